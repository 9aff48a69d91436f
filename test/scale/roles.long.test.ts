import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Api } from '../support/api.js';
import { checkRoles, ConfigError, readConfig } from '../../src/service/config.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { refusedRole, startTree, type Tree } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// Required settings of each role, errors for missing ones, and an API's abilities without Temporal.

describe('settings of a role', () => {
  const whole = {
    DATABASE_URL: 'postgres://h/d',
    TEMPORAL_ADDRESS: 'h:7233',
    RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
  };
  const check = (env: Record<string, string>, serve: boolean, work: boolean) => () =>
    checkRoles(readConfig(env), { serve, work });

  test('an API alone', () => {
    expect(check({}, true, false)).toThrow(
      /^ratchet serve needs DATABASE_URL, TEMPORAL_ADDRESS, RATCHET_SECRET_KEY .*, RATCHET_API_KEY .*; "ratchet dev"/,
    );
    expect(check({ ...whole, RATCHET_API_KEY: 'a-key-of-some-thirty-two-chars-00' }, true, false)).not.toThrow();
  });
  test('a worker alone', () => {
    expect(check({}, false, true)).toThrow(ConfigError);
    expect(check(whole, false, true)).toThrow('ratchet worker needs RATCHET_PUBLIC_URL');
    expect(check({ ...whole, RATCHET_PUBLIC_URL: 'http://ratchet' }, false, true)).not.toThrow();
  });
  test('both in one', () => {
    expect(check({}, true, true)).not.toThrow();
    expect(check({ DATABASE_URL: 'postgres://h/d' }, true, true)).toThrow('DATABASE_URL needs RATCHET_SECRET_KEY');
  });
});

describe('processes', () => {
  let cluster: Cluster;
  let container: FakeContainer;
  let api: Tree;
  const started: Tree[] = [];
  const start = async (command: 'serve' | 'worker', more: Record<string, string> = {}) => {
    const processOfRole = await startTree({ ...cluster.env, PORT: '0', ...more }, { command });
    started.push(processOfRole);
    return processOfRole;
  };
  const readiness = async (url: string) =>
    (await (await fetch(`${url}/readyz`)).json()) as {
      status: string;
      checks: Record<string, { ok: boolean; detail: string | null }>;
    };
  const evaluation = () => ({
    container_url: container.url,
    app_id: 'a',
    env_name: 'e',
    seeds: [0, 1, 2],
    policy: { provider: 'local', model: 'local' },
  });

  beforeAll(async () => {
    cluster = await startCluster();
    container = await startFakeContainer();
    api = await start('serve');
  }, 60_000);
  afterAll(async () => {
    await Promise.all(started.map((role) => role.terminate()));
    await container.close();
    await cluster.close();
  }, 60_000);

  test('a missing setting is one entry of the log, in JSON, and exit code 2', async () => {
    const { code, level, said } = await refusedRole('worker', {});
    expect([code, level]).toEqual([2, 60]);
    expect(said).toMatch(/^ratchet: ratchet worker needs DATABASE_URL, .*$/);
  });

  test('a secret key other than the database’s is one line, for either role', async () => {
    const env = {
      ...cluster.env,
      RATCHET_SECRET_KEY: randomBytes(32).toString('base64'),
      RATCHET_PUBLIC_URL: api.url,
    };
    for (const role of ['worker', 'serve'] as const) {
      const { code, said } = await refusedRole(role, env);
      expect(code).toBe(1);
      expect(said).toMatch(
        /^ratchet: RATCHET_SECRET_KEY \(fingerprint [0-9a-f]{16}\) is not the key of this database .*$/,
      );
    }
    // The refused process has not stored its key as the database's.
    await new Api(api.url, cluster.apiKey).call('GET', '/api/v1/offline/jobs');
  });

  test('an API starts without Temporal and reports it, reads, and accepts jobs, which a worker runs later', async () => {
    const blind = await start('serve', { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    const client = new Api(blind.url, cluster.apiKey);
    const { job_id: id } = await client.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', evaluation());
    expect(await client.call('GET', `/api/v1/offline/jobs/${id}`)).toMatchObject({ status: 'running' });
    expect(await readiness(blind.url)).toMatchObject({
      status: 'not_ready',
      checks: { database: { ok: true }, migrations: { ok: true }, temporal: { ok: false }, worker: { ok: false } },
    });
    // A worker has no API key of its own: the API's key keeps working.
    const keyless = Object.fromEntries(Object.entries(cluster.env).filter(([name]) => name !== 'RATCHET_API_KEY'));
    started.push(await startTree({ ...keyless, RATCHET_PUBLIC_URL: api.url }, { command: 'worker' }));
    await until('the job has completed', async () => {
      const { status } = await client.call<{ status: string }>('GET', `/api/v1/offline/jobs/${id}`);
      return status === 'completed';
    });
    await until('the other API is ready', async () => (await readiness(api.url)).status === 'ready');
  }, 90_000);

  test('a missing namespace is one line with the command', async () => {
    const { code, said } = await refusedRole('worker', {
      ...cluster.env,
      TEMPORAL_NAMESPACE: 'nobody-made-it',
      RATCHET_PUBLIC_URL: api.url,
    });
    expect(code).toBe(1);
    expect(said).toMatch(
      /^ratchet: Temporal namespace "nobody-made-it" not found\. .*operator namespace create --namespace nobody-made-it$/,
    );
  });
});
