import { describe, expect, test } from '@jest/globals';
import { proxyFor, readProxySettings } from '../../src/util/proxy.js';

const env = { http_proxy: 'http://web:1', https_proxy: 'http://tls:2' };

/** The proxy of a URL under the variables. */
const proxyOf = (url: string, variables: Record<string, string> = env) =>
  proxyFor(readProxySettings(variables).settings, url);

describe('the proxy of a URL', () => {
  test.each([
    ['https://api.example/v1', env, 'http://tls:2'],
    ['http://api.example/v1', env, 'http://web:1'],
    ['https://api.example', { HTTPS_PROXY: 'http://upper:3' }, 'http://upper:3'],
    ['https://api.example', { https_proxy: 'http://lower:3', HTTPS_PROXY: 'http://upper:3' }, 'http://lower:3'],
    ['https://api.example', { http_proxy: 'http://web:1' }, 'http://web:1'],
    ['http://api.example', { https_proxy: 'http://tls:2' }, null],
    ['https://api.example', { https_proxy: 'tls:2' }, 'http://tls:2'],
    ['https://api.example', { https_proxy: '' }, null],
    ['https://api.example', { all_proxy: 'socks5://one:4' }, null],
  ])('%s under %j', (url, variables, proxy) => expect(proxyOf(url, variables)).toBe(proxy));

  test.each(['127.0.0.1:7233', '127.9.9.9', 'localhost:1', 'LOCALHOST', 'app.localhost', '[::1]:8', '0.0.0.0:80'])(
    'this machine has none: %s',
    (host) => expect([proxyOf(`http://${host}`), proxyOf(`https://${host}`)]).toEqual([null, null]),
  );

  test.each([
    ['*', 'any.example', true],
    ['corp.example', 'corp.example', true],
    ['corp.example', 'a.corp.example', true],
    ['corp.example', 'acorp.example', false],
    ['.corp.example', 'a.corp.example', true],
    ['*.corp.example', 'a.corp.example', true],
    ['CORP.example, other', 'corp.EXAMPLE', true],
    ['corp.example:8443', 'corp.example', false],
    ['corp.example:443', 'corp.example', true],
    ['10.0.0.0/8', '10.9.8.7', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', 'ten.example', false],
    ['fd00::/8', '[fd00::1]', true],
    ['fd00::1', '[fd00::1]', true],
    ['10.0.0.1', '10.0.0.1', true],
  ])('no_proxy=%s: %s is called directly: %s', (direct, host, isDirect) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(proxyOf(`https://${host}`, { ...env, [name]: direct })).toBe(isDirect ? null : 'http://tls:2');
  });

  test.each(['socks5://one:4', 'http://', 'http://a b'])('%s is named and not used', (value) => {
    const { settings, problems } = readProxySettings({ HTTPS_PROXY: value });
    expect([settings.https, problems.length]).toEqual([null, 1]);
    expect(problems[0]).toContain('https_proxy');
  });
});
