import { expect, test } from '@jest/globals';
import { chatUrl } from '../../../src/models/client/addresses/base-url.js';
import { keyHeaderOf, presets } from '../../../src/models/client/addresses/presets.js';

test.each<[string, string]>([
  ['http://h/v1', 'http://h/v1/chat/completions'],
  ['http://h/v1///', 'http://h/v1/chat/completions'],
  ['http://h', 'http://h/chat/completions'],
  ['http://h/v1?api-version=2024-10-21', 'http://h/v1/chat/completions?api-version=2024-10-21'],
  ['http://h/v1/?a=1&b=2', 'http://h/v1/chat/completions?a=1&b=2'],
  ['http://h/v1/chat/completions', 'http://h/v1/chat/completions'],
  ['http://h/v1/chat/completions/?a=1', 'http://h/v1/chat/completions?a=1'],
  ['https://[::1]:8443/v1', 'https://[::1]:8443/v1/chat/completions'],
  ['HTTPS://Host.Example/V1', 'https://host.example/V1/chat/completions'],
])('the address below %s', (base, url) => {
  expect(chatUrl(base)).toEqual({ url });
});

test.each([
  'ftp://h/v1',
  'localhost:8000/v1',
  'unix:/run/model.sock',
  'http://',
  'http://u:p@h/v1',
  'http://k@h',
  'http://h/v1#x',
  'http://h/v1#',
])('refuses %s', (base) => {
  expect(chatUrl(base)).toHaveProperty('problem');
});

test('every preset has a usable address or the form of one, and a key header', () => {
  for (const [name, { baseUrl, form }] of Object.entries(presets)) {
    expect(name).toMatch(/^[a-z]+$/);
    expect(chatUrl(baseUrl ?? form!.replaceAll(/<\w+>/g, 'x'))).toHaveProperty('url');
  }
  const headers = [
    ['azure', 'http://127.0.0.1/v1'],
    ['openai', 'https://mine.openai.azure.com/openai/v1'],
    ['openai', 'https://openai.azure.com.example/v1'],
    ['bedrock', 'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1'],
  ].map(([name, url]) => keyHeaderOf(name!, url!));
  expect(headers).toEqual(['api-key', 'api-key', 'authorization', 'authorization']);
});
