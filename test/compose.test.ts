import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkRoles, readConfig } from '../src/service/config.js';
import { settingNames } from '../src/service/settings.js';
import { createProviders } from '../src/models/client/providers.js';
import { version } from '../src/service/version.js';

// Static checks: no test runs docker-compose.yml.

interface Service {
  image: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  env_file?: { path: string; required: boolean }[];
  profiles?: string[];
  ports?: string[];
  restart?: string;
  healthcheck?: unknown;
  depends_on?: Record<string, { condition: string }>;
  extra_hosts?: string[];
  networks?: string[];
  stop_grace_period?: string;
}
const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
};
const keys = createProviders({})
  .list()
  .map((provider) => `${provider.name.toUpperCase()}_API_KEY`);
const services = Object.entries(compose.services);
const ours = services.filter(([, service]) => service.build);

/** Value of the variable when .env holds only the required settings. */
function value(text: string): string {
  return text.replaceAll(
    /\$\{(\w+)(?::([?+-])((?:\$\{\w+\}|[^}])*))?\}/g,
    (_, name: string, kind?: string, rest?: string) => {
      if (kind === '+') return '';
      if (kind === '-') return rest ?? '';
      expect({ name, kind }).toEqual({ name, kind: '?' });
      return name === 'RATCHET_SECRET_KEY'
        ? Buffer.alloc(32).toString('base64')
        : `given-${name.toLowerCase()}`.padEnd(32, '-');
    },
  );
}
const settingsOf = (service: Service) =>
  Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, text]) => [name, value(text)]));

describe('docker-compose.yml', () => {
  test('defines API and worker, each with its own role only', () => {
    expect(ours.map(([name, { command }]) => [name, command])).toEqual([
      ['api', ['serve']],
      ['worker', ['worker']],
    ]);
    for (const [, service] of ours) expect(service.image).toBe(`ratchet:${version}`);
  });

  test.each(ours)('%s has only known settings, and all that its role requires', (name, service) => {
    const settings = settingsOf(service);
    // Besides its own settings, the service passes TEMPORAL_… to Temporal's library.
    const known = [...settingNames, 'TEMPORAL_NAMESPACE'];
    expect(Object.keys(settings).filter((setting) => !known.includes(setting))).toEqual([]);
    const config = readConfig(settings);
    checkRoles(config, { serve: name === 'api', work: name === 'worker' });
    expect(config.egress).toMatchObject({ mode: 'allowlist', allowlist: ['host.docker.internal'] });
    expect(service.extra_hosts).toContain('host.docker.internal:host-gateway');
  });

  test('keeps Postgres and Temporal on a network of its own services', () => {
    expect(Object.fromEntries(services.map(([name, { networks }]) => [name, networks]))).toEqual({
      postgres: ['servers'],
      'temporal-schema': ['servers'],
      temporal: ['servers'],
      'temporal-namespace': ['servers'],
      'temporal-ui': ['servers', 'ui'],
      api: ['servers', 'default'],
      worker: ['servers', 'default'],
    });
    expect(compose.networks['servers']?.internal).toBe(true);
  });

  test('gives both all providers by a file that may be missing', () => {
    for (const [, service] of ours) expect(service.env_file).toEqual([{ path: 'providers.env', required: false }]);
    // `environment` would win over the file.
    const given = ours.flatMap(([, service]) => Object.keys(service.environment ?? {}));
    expect(given.filter((name) => /_BASE_URL$|PROVIDERS$/.test(name) || keys.includes(name))).toEqual([]);
  });

  test('tells people to write secrets into files only that git ignores', () => {
    const header = read('docker-compose.yml').split(/^[^#]/m)[0]!;
    const files = [...header.matchAll(/(?:>>? |file )(\S*\.env)\b/g)].map(([, file]) => file!);
    expect(new Set(files)).toEqual(new Set(['.env', 'providers.env']));
    const ignored = read('.gitignore').split('\n');
    expect(files.filter((file) => !ignored.includes(file))).toEqual([]);
  });

  test("starts Temporal's UI on request only, at a port of the user's choice", () => {
    expect(services.flatMap(([name, { profiles }]) => (profiles ? [[name, ...profiles]] : []))).toEqual([
      ['temporal-ui', 'ui'],
    ]);
    expect(compose.services['temporal-ui']!.ports).toEqual(['127.0.0.1:${TEMPORAL_UI_PORT:-8080}:8080']);
    for (const [, service] of ours) expect(settingsOf(service)['RATCHET_TEMPORAL_UI_URL']).toBe('');
  });

  test('gives both the same database, Temporal and secret key', () => {
    const [api, worker] = ours.map(([, service]) => settingsOf(service));
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'RATCHET_SECRET_KEY']) {
      expect(api![name]).toBeTruthy();
      expect(worker![name]).toBe(api![name]);
    }
  });

  test.each(services)('%s: pinned, restarted, waits for its dependencies, published on loopback only', (_, service) => {
    expect(service.image).toMatch(/:\d+\.\d+(\.\d+)?(-\w+)?$/);
    expect(service.restart).toMatch(/^(unless-stopped|on-failure)$/);
    for (const port of service.ports ?? []) expect(value(port)).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const once = compose.services[needed]!.restart === 'on-failure';
      expect(condition).toBe(once ? 'service_completed_successfully' : 'service_healthy');
      // The Dockerfile defines its health check.
      if (!once && needed !== 'api') expect(compose.services[needed]!.healthcheck).toBeDefined();
    }
  });

  test('runs a Temporal server without the known defects of 1.29.4 and 1.30.2, with tools of the same version', () => {
    const tags = services.flatMap(
      ([, { image }]) => /^temporalio\/(?:server|admin-tools):(.+)$/.exec(image)?.[1] ?? [],
    );
    expect(tags).toHaveLength(3);
    expect(new Set(tags).size).toBe(1);
    const [major = 0, minor = 0, patch = 0] = tags[0]!.split('.').map(Number);
    const least = minor === 29 ? 5 : minor === 30 ? 3 : 0;
    expect(major === 1 && minor >= 29 && patch >= least).toBe(true);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  test('pins its images, does not run as root, and has a health check and the command', () => {
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set([expect.stringMatching(/^node:2[02]\.\d+\.\d+-\w+-slim$/)]));
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/\/livez/);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["ratchet"\]$/m);
  });
  test('builds the dashboard, or fails', () => {
    expect(dockerfile).toMatch(/^COPY dashboard dashboard$/m);
    expect(dockerfile).toMatch(/^RUN node scripts\/build\.mjs && test -f dist\/dashboard\/index\.html$/m);
  });
  test('copies only paths that .dockerignore permits', () => {
    const passed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, files]) => files!.split(' '));
    expect(copied.filter((file) => !passed.includes(file))).toEqual([]);
  });
});
