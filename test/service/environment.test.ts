import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readConfig } from '../../src/service/config.js';
import { secretNames, settingNames } from '../../src/service/settings.js';

// What Docker and Kubernetes make of variables: files, links of services, quotes.

const folder = mkdtempSync(join(tmpdir(), 'ratchet-environment-'));
afterAll(() => rmSync(folder, { recursive: true }));
function file(text: string): string {
  const path = join(folder, `${Math.random()}`);
  writeFileSync(path, text);
  return path;
}
const key = 'a-key-of-thirty-two-characters-xx';
const bytes = Buffer.alloc(32, 7);

describe('NAME_FILE', () => {
  test('is there for every setting that holds a secret', () => {
    const named = settingNames.filter((name) => /(_KEY|DATABASE_URL)$/.test(name));
    expect(secretNames).toEqual(expect.arrayContaining(named));
  });

  test.each(['', '\n', '\r\n'])('holds the value, with %j at its end', (end) => {
    const config = readConfig({
      RATCHET_API_KEY_FILE: file(`${key}${end}`),
      RATCHET_SECRET_KEY_FILE: file(`${bytes.toString('base64')}${end}`),
      RATCHET_CODEC_KEY_FILE: file(`${bytes.toString('base64')}${end}`),
      DATABASE_URL_FILE: file(`postgres://u:p@h/d${end}`),
      OPENAI_API_KEY_FILE: file(`sk-x${end}`),
      TEMPORAL_API_KEY_FILE: file(`t${end}`),
    });
    expect(config).toMatchObject({ apiKey: key, secretKey: bytes, codecKey: bytes, databaseUrl: 'postgres://u:p@h/d' });
    expect(config.env).toMatchObject({ OPENAI_API_KEY: 'sk-x', TEMPORAL_API_KEY: 't' });
    expect(Object.keys(config.env).filter((name) => name.endsWith('_FILE'))).toEqual([]);
  });

  test.each([
    ['missing', () => join(folder, 'none'), 'ENOENT'],
    ['a folder', () => folder, 'EISDIR'],
    ['empty', () => file('\n'), 'is empty'],
  ])('that is %s is one line', (_, path, why) => {
    const read = () => readConfig({ RATCHET_SECRET_KEY_FILE: path() });
    expect(read).toThrow(ConfigError);
    for (const part of ['RATCHET_SECRET_KEY_FILE', why, /^[^\n]+$/]) expect(read).toThrow(part);
  });

  test('beside its value is refused; without a path it is absent', () => {
    expect(() => readConfig({ RATCHET_API_KEY: key, RATCHET_API_KEY_FILE: file(key) })).toThrow('RATCHET_API_KEY_FILE');
    expect(readConfig({ RATCHET_API_KEY: key, RATCHET_API_KEY_FILE: '' }).apiKey).toBe(key);
  });

  test('of other variables is not read', () => {
    expect(readConfig({ SSL_CERT_FILE: '/none', TEMPORAL_CONFIG_FILE: '/none' }).env).toEqual({
      SSL_CERT_FILE: '/none',
      TEMPORAL_CONFIG_FILE: '/none',
    });
  });
});

test('links of services are no ports: each is ignored with one line', () => {
  const ports = settingNames.filter((name) => /(^|_)PORT$/.test(name));
  expect(ports).toContain('RATCHET_METRICS_PORT');
  const config = readConfig(Object.fromEntries(ports.map((name) => [name, 'tcp://10.1.2.3:9464'])));
  expect(config.notes).toHaveLength(ports.length);
  expect(config).toMatchObject({ port: 8787, isPortFixed: false, metricsPort: null, temporalPort: 7233 });
  expect(() => readConfig({ RATCHET_METRICS_PORT: 'http://10.1.2.3:9464' })).toThrow('RATCHET_METRICS_PORT');
});

test.each(['"', "'"])('quotes %s around a value are dropped, but for the API key, which others compare', (q) => {
  const quoted = (value: string) => `${q}${value}${q}`;
  const config = readConfig({
    PORT: quoted('9000'),
    DATABASE_URL: quoted('postgres://u:p@h/d'),
    RATCHET_SECRET_KEY: quoted(bytes.toString('base64')),
    RATCHET_PUBLIC_URL: quoted('https://r.example'),
    OPENAI_API_KEY: quoted('sk-x'),
    RATCHET_CODEC_KEY: quoted(''),
    UNRELATED: quoted('x'),
  });
  expect(config).toMatchObject({ port: 9000, databaseUrl: 'postgres://u:p@h/d', secretKey: bytes, codecKey: null });
  expect(config.publicUrl).toBe('https://r.example');
  expect(config.env).toMatchObject({ OPENAI_API_KEY: 'sk-x', UNRELATED: quoted('x') });
  expect(() => readConfig({ RATCHET_API_KEY: quoted(key) })).toThrow(/^RATCHET_API_KEY is in quotes/);
});

describe('RATCHET_ALLOWED_HOSTS', () => {
  test.each([
    ['ratchet-api, Ratchet-API.prod.svc.cluster.local:8787', ['ratchet-api', 'ratchet-api.prod.svc.cluster.local']],
    ['10.2.3.4:80,fd00::1,[fd00::2]:80', ['10.2.3.4', '[fd00::1]', '[fd00::2]']],
    [',', []],
  ])('%s', (text, hosts) => expect(readConfig({ RATCHET_ALLOWED_HOSTS: text }).allowedHosts).toEqual(hosts));

  test.each(['*', '*.svc', 'http://ratchet-api', 'a/b', 'a b'])('may not be %s', (text) =>
    expect(() => readConfig({ RATCHET_ALLOWED_HOSTS: text })).toThrow(/^RATCHET_ALLOWED_HOSTS must be host names/),
  );
});
