import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pureRuns } from '../../support/runs.js';
import { Redactor } from '../../../src/clients/net/redact.js';

const secret = 'k+/"ey\\ 0123%?';
const redactor = new Redactor([secret, null]);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A text with every character as JSON escape, as some writers do it. */
const escaped = (text: string) =>
  [...text].map((char) => `\\u00${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

describe('forms of a secret', () => {
  const forms: [string, string][] = [
    ['plain', secret],
    ['JSON', JSON.stringify(secret)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(secret))],
    ['URL', encodeURIComponent(secret)],
    ['URL in a URL', encodeURIComponent(encodeURIComponent(secret))],
    ['JSON escapes', escaped(secret)],
    ...[0, 1, 2].map((shift): [string, string] => [
      `base64 after ${shift}`,
      base64(`${'u:x'.slice(0, shift)}${secret}`),
    ]),
    ['base64url', Buffer.from(secret).toString('base64url')],
  ];

  test.each(forms)('hides it as %s', (_, form) => {
    const text = redactor.text(`before ${form} after`);
    expect(text).toContain('***');
    expect(text).toMatch(/^before .* after$/);
    expect(redactor.isIn(text)).toBe(false);
    expect(text).not.toContain(secret.slice(-6));
  });

  test('hides it in the base64 of a longer text', () => {
    expect(redactor.text(base64(`user:${secret}:more`))).toContain('***');
  });
});

describe('texts without a secret', () => {
  test('are the same', () => {
    const text = 'a%20b \\u0041 https:\\/\\/example.com k+/';
    expect(redactor.text(text)).toBe(text);
  });

  test('placeholders are no secrets', () => {
    expect(new Redactor(['ollama', '', null]).text('ask ollama')).toBe('ask ollama');
    expect(new Redactor(['ollama']).isIdle).toBe(true);
  });
});

test('escapes of any kind around a secret are read as their pattern says', () => {
  const pattern = /(?:%(?:25)*|(?<!\\)\\+u00)([2-7][0-9a-f])|(?<!\\)\\+(\/)/gi;
  const read = (text: string) =>
    text.replace(pattern, (_, code?: string, slash?: string) => slash ?? String.fromCharCode(parseInt(code!, 16)));
  const pieces = ['%', '25', '\\', '\\\\', 'u00', 'U00', '2', '4', '7', 'f', 'F', 'g', '/', 'a', '語'];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((chosen) => chosen.join(''));
  const hidden = encodeURIComponent(encodeURIComponent(secret));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const whole = `${before} ${hidden} ${after}`;
      expect(redactor.text(whole)).toBe(read(whole).replace(secret, '***'));
    }),
    { numRuns: pureRuns(500, 20_000) },
  );
});

describe('the time to search', () => {
  // Quadratic, each of these would take minutes.
  test.each([
    ['a run of backslashes', '\\'.repeat(1_000_000)],
    ['percent signs', '%25'.repeat(300_000)],
    ['beginnings of the secret', 'k+/"ey'.repeat(200_000)],
    ['secrets', secret.repeat(70_000)],
  ])('is linear in %s', (_, text) => {
    expect(redactor.isIn(redactor.text(text))).toBe(false);
    expect([...redactor.occurrences(text)].length).toBe(text.split(secret).length - 1);
    expect(redactor.mayBeginAtEnd(text)).toBe(text.startsWith('k+'));
  });
});

describe('JSON', () => {
  test('hides it in nested values and names, and keeps numbers', () => {
    const digits = new Redactor(['12345678']);
    const body = digits.body('{"reward":0.12345678,"a":[{"x12345678":"12345678"}],"id":12345678}');
    expect(JSON.parse(body)).toEqual({ reward: 0.12345678, a: [{ 'x***': '***' }], id: '***' });
  });

  test('finds it escaped, and bounds the depth', () => {
    const deep = `{"a":"${escaped('secret-key')}","d":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const body = new Redactor(['secret-key']).body(deep);
    expect(JSON.parse(body)).toMatchObject({ a: '***' });
  });

  test('redacts a body that is no JSON as text', () => {
    expect(new Redactor(['secret-key']).body('<p>secret-key</p>')).toBe('<p>***</p>');
  });
});
