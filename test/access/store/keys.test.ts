import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ensureBootstrapKey,
  findKey,
  generateKey,
  hashKey,
  isWholeKey,
  touchKey,
} from '../../../src/access/store/keys.js';
import { databaseOfFile } from '../../support/database-of-file.js';

const secretKey = Buffer.alloc(32, 1);
const db = databaseOfFile(2);

const find = (key: string) => findKey(db, hashKey(secretKey, key));

describe('a generated key', () => {
  test('has its format, is valid, and is unique', () => {
    const keys = Array.from({ length: 200 }, generateKey);
    expect(new Set(keys).size).toBe(200);
    for (const key of keys) {
      expect(key).toMatch(/^rk_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/);
      expect(isWholeKey(key)).toBe(true);
    }
  });

  test('is invalid with any one character changed or missing', () => {
    const key = generateKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0aZ_ -'), (at, char) => {
        fc.pre(key[at] !== char);
        return (
          !isWholeKey(key.slice(0, at) + char + key.slice(at + 1)) && !isWholeKey(key.slice(0, at) + key.slice(at + 1))
        );
      }),
    );
  });

  test('is hashed under the secret of the service, in full', () => {
    const key = generateKey();
    expect(hashKey(secretKey, key).equals(hashKey(Buffer.alloc(32, 2), key))).toBe(false);
    expect(hashKey(secretKey, key).equals(hashKey(secretKey, `${key}x`))).toBe(false);
    expect(hashKey(secretKey, key)).toHaveLength(32);
  });
});

describe('the bootstrap key', () => {
  test('creates its organization, and a new value replaces it', async () => {
    await ensureBootstrapKey(db, secretKey, 'default', 'first-key-of-the-org-xxxxxxxxxxxx');
    await ensureBootstrapKey(db, secretKey, 'default', 'first-key-of-the-org-xxxxxxxxxxxx');
    const row = { id: 'bootstrap_default', orgId: 'default', scopes: ['read', 'write', 'infer', 'admin'], limits: [] };
    expect(await find('first-key-of-the-org-xxxxxxxxxxxx')).toEqual(row);
    await ensureBootstrapKey(db, secretKey, 'default', 'second-key-of-the-org-xxxxxxxxxxx');
    expect(await find('first-key-of-the-org-xxxxxxxxxxxx')).toBeNull();
    expect(await find('second-key-of-the-org-xxxxxxxxxxx')).toMatchObject({ orgId: 'default' });
  });

  test('stays revoked when the service starts again', async () => {
    await ensureBootstrapKey(db, secretKey, 'gone', 'key-that-is-revoked-xxxxxxxxxxxxx');
    await db.org('gone', (tx) => tx.query('update api_keys set revoked_at = now()'));
    await ensureBootstrapKey(db, secretKey, 'gone', 'key-that-is-revoked-xxxxxxxxxxxxx');
    expect(await find('key-that-is-revoked-xxxxxxxxxxxxx')).toBeNull();
  });

  test.each([
    'x'.repeat(31),
    `with a space in it ${'x'.repeat(20)}`,
    'x'.repeat(501),
    'rk_cut',
    generateKey().slice(0, -1),
    `two\nlines ${'x'.repeat(30)}`,
  ])('refuses %j and names the remedy', async (key) => {
    await expect(ensureBootstrapKey(db, secretKey, 'default', key)).rejects.toThrow('RATCHET_API_KEY');
  });
});

test('writes the last use at most once a minute', async () => {
  await ensureBootstrapKey(db, secretKey, 'used', 'a-key-that-is-used-xxxxxxxxxxxxxx');
  const row = (await find('a-key-that-is-used-xxxxxxxxxxxxxx'))!;
  const lastUse = async () =>
    (await db.org('used', (tx) => tx.query('select last_used_at from api_keys')))[0]!['last_used_at'];
  await touchKey(db, row);
  const first = await lastUse();
  await touchKey(db, row);
  expect(await lastUse()).toEqual(first);
  await db.org('used', (tx) => tx.query(`update api_keys set last_used_at = now() - interval '61 seconds'`));
  await touchKey(db, row);
  expect((await lastUse()) > first).toBe(true);
});
