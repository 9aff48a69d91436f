import { describe, expect, test } from '@jest/globals';
import { checkRoles, ConfigError, exposureWarnings, readConfig } from '../../src/service/config.js';

const dev = { serve: true, work: true };
const server = {
  DATABASE_URL: 'postgres://db/ratchet',
  TEMPORAL_ADDRESS: 'temporal:7233',
  RATCHET_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  RATCHET_API_KEY: 'a-key-of-thirty-two-characters-xx',
};

describe('an API that listens beyond this machine', () => {
  test.each(['0.0.0.0', '::', '10.1.2.3', 'ratchet.internal'])('at %s needs RATCHET_PUBLIC_URL', (HOST) => {
    expect(() => checkRoles(readConfig({ HOST }), dev)).toThrow(ConfigError);
    expect(() => checkRoles(readConfig({ HOST }), dev)).toThrow(/^HOST=\S+ needs RATCHET_PUBLIC_URL/);
    expect(() => checkRoles(readConfig({ ...server, HOST }), { serve: true, work: false })).toThrow(
      'RATCHET_PUBLIC_URL',
    );
    checkRoles(readConfig({ HOST, RATCHET_PUBLIC_URL: 'https://ratchet.example.com' }), dev);
  });

  test.each(['127.0.0.1', '127.0.0.9', '::1', 'localhost'])('not at %s', (HOST) => {
    checkRoles(readConfig({ HOST }), dev);
    checkRoles(readConfig({ ...server, HOST }), { serve: true, work: false });
    expect(exposureWarnings(readConfig({ HOST }))).toEqual([]);
  });

  test('gets a warning for egress to private addresses, and one for plain HTTP', () => {
    const warnings = (RATCHET_PUBLIC_URL: string, RATCHET_EGRESS: string) =>
      exposureWarnings(readConfig({ HOST: '0.0.0.0', RATCHET_PUBLIC_URL, RATCHET_EGRESS })).length;
    expect(warnings('http://ratchet.example.com', 'dev')).toBe(2);
    expect(warnings('http://ratchet.example.com', 'public')).toBe(1);
    expect(warnings('https://ratchet.example.com', 'dev')).toBe(1);
    expect(warnings('https://ratchet.example.com', 'public')).toBe(0);
  });
});

test.each([
  ['x'.repeat(31), false],
  ['x'.repeat(32), true],
  ['x'.repeat(500), true],
  ['x'.repeat(501), false],
  [`${'x'.repeat(32)} y`, false],
])('RATCHET_API_KEY: 32 to 500 visible characters', (key, isAccepted) => {
  const read = () => readConfig({ RATCHET_API_KEY: key });
  if (isAccepted) expect(read().apiKey).toBe(key);
  else expect(read).toThrow(ConfigError);
});

test.each<[Record<string, string>, object | null]>([
  [{}, null],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, { captureContent: false }],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, { captureContent: false }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, null],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, null],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'True' },
    { captureContent: true },
  ],
])('traces: %j', (env, tracing) => {
  expect(readConfig(env).tracing).toEqual(tracing);
});

test('an endpoint of traces is an http or https URL', () => {
  for (const endpoint of ['c:4318', 'grpc://c:4317'])
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(/^OTEL_EXPORTER_OTLP_ENDPOINT must be/);
});

test('age limits are whole days, each of its own', () => {
  const none = { traces: null, events: null, job: null, audit: null };
  expect(readConfig({}).keepDays).toEqual(none);
  const [traces, events, jobs, audit] = ['TRACES', 'EVENTS', 'JOBS', 'AUDIT'].map(
    (what) => `RATCHET_KEEP_${what}_DAYS`,
  );
  expect(readConfig({ [traces!]: '1' }).keepDays).toEqual({ ...none, traces: 1 });
  expect(readConfig({ [events!]: '20', [jobs!]: '300' }).keepDays).toEqual({ ...none, events: 20, job: 300 });
  expect(readConfig({ [audit!]: '365' }).keepDays).toEqual({ ...none, audit: 365 });
  for (const value of ['0', '1.5', 'x', '36501']) expect(() => readConfig({ [jobs!]: value })).toThrow(jobs);
});
