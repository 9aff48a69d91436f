import type { lookup } from 'node:dns';
import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { checkContainerUrl, createEgressAgent, EgressError, type EgressMode } from '../../../src/clients/net/egress.js';
import { startFakeContainer, type FakeContainer } from '../../support/fakes/container.js';

const allowed = null;
const refused = expect.any(String);

describe('the URL check', () => {
  // [URL, dev, public]
  const rows: [string, unknown, unknown][] = [
    ['https://container.example.com', allowed, allowed],
    ['http://container.example.com:8080/base', allowed, allowed],
    ['http://93.184.216.34', allowed, allowed],
    ['http://[2606:2800:220:1:248:1893:25c8:1946]', allowed, allowed],
    ['http://127.0.0.1:8000', allowed, refused],
    ['http://localhost:8000', allowed, refused],
    ['http://api.localhost:8000', allowed, refused],
    ['http://localhost.:8000', allowed, refused],
    ['http://[::1]:8000', allowed, refused],
    ['http://0.0.0.0:8000', allowed, refused],
    ['http://10.1.2.3', allowed, refused],
    ['http://172.16.0.1', allowed, refused],
    ['http://192.168.1.1', allowed, refused],
    ['http://100.64.0.1', allowed, refused],
    ['http://[fd12:3456::1]', allowed, refused],
    // Spellings of one address.
    ['http://2130706433', allowed, refused],
    ['http://0x7f000001', allowed, refused],
    ['http://0177.0.0.1', allowed, refused],
    ['http://127.1', allowed, refused],
    ['http://[::ffff:127.0.0.1]', allowed, refused],
    ['http://[::ffff:7f00:1]', allowed, refused],
    ['http://[::ffff:10.0.0.1]', allowed, refused],
    // Refused in every mode.
    ['http://169.254.169.254', refused, refused],
    ['http://2852039166', refused, refused],
    ['http://0xa9fea9fe', refused, refused],
    ['http://[::ffff:169.254.169.254]', refused, refused],
    ['http://[fe80::1]', refused, refused],
    ['http://[fd00:ec2::254]', refused, refused],
    ['http://100.100.100.200', refused, refused],
    ['http://168.63.129.16', refused, refused],
    ['http://[::127.0.0.1]', refused, refused],
    ['http://[::7f00:1]', refused, refused],
    ['http://[64:ff9b::7f00:1]', refused, refused],
    ['http://[2002:7f00:1::]', refused, refused],
    ['http://224.0.0.1', refused, refused],
    ['http://255.255.255.255', refused, refused],
    ['ftp://container.example.com', refused, refused],
    ['file:///etc/passwd', refused, refused],
    ['http://user:secret@container.example.com', refused, refused],
    ['http://key@container.example.com', refused, refused],
    ['https://container.example.com?x=1', refused, refused],
    ['https://container.example.com#x', refused, refused],
    ['not a url', refused, refused],
    ['', refused, refused],
    [`http://container.example.com/${'x'.repeat(3000)}`, refused, refused],
  ];
  test.each(rows)('%s', (url, dev, open) => {
    expect({ dev: checkContainerUrl(url, 'dev', []), public: checkContainerUrl(url, 'public', []) }).toEqual({
      dev,
      public: open,
    });
  });

  test('the allowlist accepts its entries, private hosts only by exact name', () => {
    const list = ['container.internal', '10.0.0.5:8000', '*.example.com', '*.localhost'];
    const check = (url: string) => checkContainerUrl(url, 'allowlist', list);
    expect(check('http://container.internal:9000')).toBeNull();
    expect(check('http://CONTAINER.internal')).toBeNull();
    expect(check('http://10.0.0.5:8000')).toBeNull();
    expect(check('https://a.b.example.com')).toBeNull();
    expect(check('http://10.0.0.5:8001')).toContain('allowlist');
    expect(check('https://example.com')).toContain('allowlist');
    expect(check('https://notexample.com')).toContain('allowlist');
    expect(check('http://93.184.216.34')).toContain('allowlist');
    expect(check('http://x.localhost')).toContain('loopback or private');
    expect(checkContainerUrl('http://169.254.169.254', 'allowlist', ['169.254.169.254'])).toContain('never');
  });
});

describe('the check of the connected address', () => {
  let container: FakeContainer | undefined;
  afterEach(async () => {
    await container?.close();
    container = undefined;
  });

  /** DNS under an attacker’s control. */
  const resolvingTo = (...addresses: string[]) =>
    ((_name: string, _options: unknown, done: (e: null, found: { address: string; family: number }[]) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as unknown as typeof lookup;

  async function call(mode: EgressMode, url: string, ...addresses: string[]): Promise<number> {
    const agent = createEgressAgent({ mode, allowlist: ['listed.test', '*.wild.test'] }, resolvingTo(...addresses));
    try {
      const answer = await request(url, { dispatcher: agent });
      await answer.body.dump();
      return answer.statusCode;
    } finally {
      await agent.destroy();
    }
  }

  test('refuses a public name that resolves to loopback before connecting, and accepts it in dev', async () => {
    container = await startFakeContainer();
    const { port } = new URL(container.url);
    const url = `http://rebinding.test:${port}/health`;
    await expect(call('public', url, '127.0.0.1')).rejects.toBeInstanceOf(EgressError);
    await expect(call('public', url, '::ffff:127.0.0.1')).rejects.toBeInstanceOf(EgressError);
    expect(container.probes).toEqual([]);
    expect(await call('dev', url, '127.0.0.1')).toBe(200);
    expect(container.probes).toHaveLength(1);
  });

  test('refuses a name with one bad address among good ones', async () => {
    const refused = await call('public', 'http://mixed.test', '93.184.216.34', '10.0.0.1').catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(EgressError);
    expect((refused as Error).message).toContain('mixed.test');
  });

  test.each(['10.0.0.7', '127.0.0.1', '169.254.169.254', '::1', 'fd00::7', '::ffff:10.0.0.7'])(
    'a refusal does not tell that a name means %s',
    async (address) => {
      for (const mode of ['public', 'allowlist'] as const) {
        const host = mode === 'public' ? 'db.internal.test' : 'a.wild.test';
        const refused = await call(mode, `http://${host}`, address).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(EgressError);
        expect((refused as Error).message).not.toMatch(/10\.0|127\.0|169\.254|::|fd00/);
      }
    },
  );

  test('refuses metadata addresses in every mode', async () => {
    for (const mode of ['dev', 'public'] as const) {
      await expect(call(mode, 'http://metadata.test', '169.254.169.254')).rejects.toBeInstanceOf(EgressError);
    }
    await expect(call('allowlist', 'http://listed.test', '169.254.169.254')).rejects.toBeInstanceOf(EgressError);
  });

  test('checks addresses that need no resolution', async () => {
    container = await startFakeContainer();
    await expect(call('public', `${container.url}/health`)).rejects.toBeInstanceOf(EgressError);
    expect(container.probes).toEqual([]);
  });

  test('the allowlist permits a private address for an exact entry, not for a wildcard', async () => {
    container = await startFakeContainer();
    const { port } = new URL(container.url);
    expect(await call('allowlist', `http://listed.test:${port}/health`, '127.0.0.1')).toBe(200);
    await expect(call('allowlist', `http://a.wild.test:${port}/health`, '127.0.0.1')).rejects.toBeInstanceOf(
      EgressError,
    );
  });

  test('ignores proxies from the environment', async () => {
    container = await startFakeContainer();
    const proxy = await startFakeContainer();
    const before = { ...process.env };
    Object.assign(process.env, { http_proxy: proxy.url, HTTP_PROXY: proxy.url });
    try {
      expect(await call('dev', `${container.url}/health`)).toBe(200);
      expect({ direct: container.probes.length, proxied: proxy.probes.length }).toEqual({ direct: 1, proxied: 0 });
    } finally {
      process.env = before;
      await proxy.close();
    }
  });
});
