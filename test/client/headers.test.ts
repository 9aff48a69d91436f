import { expect, test } from '@jest/globals';
import { Ratchet, RatchetError } from '../../src/client/index.js';

// What no header takes is refused before anything is sent, by the name of its field.

const url = 'http://127.0.0.1:1';
const errorOf = async (work: () => unknown): Promise<RatchetError> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof RatchetError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};
const call = (options: object) =>
  new Ratchet({ url, apiKey: 'sk-x', maxRetries: 0 }).createEvaluation({ seeds: [0] } as never, options);

const texts = ['sk-“x”', 'sk-x\u0000', 'a\nb', 'é', '日本', '😀'];

test.each(texts)('the key %j', async (apiKey) => {
  const { code, message } = await errorOf(() => new Ratchet({ url, apiKey }));
  expect([code, message.split(':')[0]]).toEqual(['invalid_header', 'apiKey']);
});

test.each(texts)('a header and an Idempotency-Key %j', async (value) => {
  for (const [field, options] of [
    ['headers.x-a', { headers: { 'x-a': value } }],
    ['idempotencyKey', { idempotencyKey: value }],
  ] as const) {
    const { code, message } = await errorOf(() => call(options));
    expect([code, message.split(':')[0]]).toEqual(['invalid_header', field]);
  }
});

test.each(['http://h\n/x', 'http://h\u0000', 'http://h/a\tb', 'http://h/\u0085'])('the address %j', async (address) => {
  expect((await errorOf(() => new Ratchet({ url: address, apiKey: 'x' }))).code).toBe('invalid_url');
});

test.each(['x y', 'x:', '“x”', ''])('a header with the name %j', async (name) => {
  const { code, message } = await errorOf(() => call({ headers: { [name]: 'v' } }));
  expect([code, message.split(':')[0]]).toEqual(['invalid_header', 'headers']);
});

test.each(['127.0.0.1:8787', 'http://', 'http://[::1', 'http://a\u0000b', '“http://x”'])(
  'the URL %j',
  async (wrong) => {
    const { code, message } = await errorOf(() => new Ratchet({ url: wrong, apiKey: 'sk-x' }));
    expect([code, message.split(':')[0]]).toEqual(['invalid_url', 'url']);
  },
);

test('white space around a key is left out, as when it was read from a file', () => {
  expect(() => new Ratchet({ url, apiKey: 'sk-x\n' })).not.toThrow();
});
