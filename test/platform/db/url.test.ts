import { describe, expect, test } from '@jest/globals';
import { DatabaseStartError } from '../../../src/platform/db/errors.js';
import { encryptions } from '../../../src/platform/db/tls.js';
import { readDatabaseUrl, shownServers, urlAs } from '../../../src/platform/db/url.js';

const server = (host: string | null, port = 5432, address: string | null = null) => ({ host, port, address });

describe('a URL means what it means to libpq', () => {
  test.each([
    ['postgres://u:p@h/d', [server('h')]],
    ['postgresql://u:p@h:6432/d', [server('h', 6432)]],
    ['postgres://u:p@/d?host=/socket', [server('/socket')]],
    ['postgres://u:p@/d?host=/socket&port=6432', [server('/socket', 6432)]],
    ['postgres://u:p@ignored/d?host=%2Fcloudsql%2Fp:r:i', [server('/cloudsql/p:r:i')]],
    ['postgres://u:p@%2Fvar%2Frun:5433/d', [server('/var/run', 5433)]],
    ['postgres://u:p@a:1,b,[::1]:3/d', [server('a', 1), server('b'), server('::1', 3)]],
    ['postgres://u:p@/d?host=a,b&port=1,2', [server('a', 1), server('b', 2)]],
    ['postgres://u:p@/d?host=a,b&port=7', [server('a', 7), server('b', 7)]],
    ['postgres://u:p@name/d?hostaddr=10.0.0.1', [server('name', 5432, '10.0.0.1')]],
    ['postgres:///d', [server(null)]],
    ['postgres://', [server(null)]],
  ])('%s', (url, servers) => {
    expect(readDatabaseUrl(url).servers).toEqual(servers);
  });

  test.each([
    ['postgres://u:su#per@h/d', 'u', 'su#per', 'd'],
    ['postgres://u:a?b@h/d', 'u', 'a?b', 'd'],
    ['postgres://u:a:b@h/d', 'u', 'a:b', 'd'],
    ['postgres://u%40corp:p%40%2F%25@h/d%20e', 'u@corp', 'p@/%', 'd e'],
    ['postgres://h/d?user=u@corp&password=p@x', 'u@corp', 'p@x', 'd'],
    [' postgres://u:p@h/d\r', 'u', 'p', 'd'],
    ['postgres://u@h?dbname=d', 'u', null, 'd'],
    ['postgres://h', null, null, null],
  ])('%s', (url, user, password, database) => {
    expect(readDatabaseUrl(url)).toMatchObject({ user, password, database });
  });

  test.each([
    ['', false],
    ['?channel_binding=disable', false],
    ['?sslmode=require&channel_binding=require', true],
  ])('channel binding of %j', (query, channelBinding) => {
    expect(readDatabaseUrl(`postgres://u:p@h/d${query}`)).toMatchObject({ channelBinding });
  });

  test.each([
    'postgres://u:hidden1@hidden2@h/d',
    'postgres://u:hidden/hidden2@h/d',
    'postgres://u:123/hidden@h/d',
    'postgres://u:hi%dden@h/d',
    'postgres://u:p@hidden?hidden2@h/d',
    'postgres://u:p@hidden?x=hidden2@h/d',
    'postgres://u:p@h:hidden/d',
    'postgres://u:p@h:0/d',
    'postgres://u:p@h:65536/d',
    'postgres://u:p@[hidden/d',
    'postgres://u:p@/d?host=a,b&port=1,2,3',
    'mysql://u:hidden@h/d',
    'postgres://u:hidden@h/d?require_auth=scram-sha-256',
    'host=hidden dbname=d',
  ])('%s is refused without any part of it', (url) => {
    const read = () => readDatabaseUrl(url);
    expect(read).toThrow(DatabaseStartError);
    expect(read).toThrow(/^(?!.*hidden)(must|has|names)/);
  });

  test('another user takes the place of the first, also in the parameters', () => {
    const url = urlAs('postgres://u:p@a:1,b/d?user=x&password=y&sslmode=disable', 'us er', 'p@s#');
    expect(readDatabaseUrl(url)).toMatchObject({ user: 'us er', password: 'p@s#', database: 'd', servers: [{}, {}] });
    expect(url).not.toMatch(/u:p|x|y/);
    expect(shownServers(readDatabaseUrl(url))).toBe('a:1,b:5432');
  });
});

describe('sslmode', () => {
  const verification = (tls: Parameters<typeof encryptions>[0]) =>
    encryptions(tls).map((way) =>
      way === false
        ? 'none'
        : way.rejectUnauthorized === false
          ? 'any'
          : way.checkServerIdentity
            ? 'authority'
            : 'full',
    );

  const ca = 'node_modules/pg/package.json';
  test.each([
    [{}, ['any', 'none']],
    [{ sslmode: 'disable', sslrootcert: '/nowhere' }, ['none']],
    [{ sslmode: 'allow' }, ['none', 'any']],
    [{ sslmode: 'prefer' }, ['any', 'none']],
    [{ sslmode: 'require' }, ['any']],
    [{ sslmode: 'no-verify' }, ['any']],
    [{ sslmode: 'verify-ca' }, ['full']],
    [{ sslmode: 'verify-full' }, ['full']],
    [{ sslrootcert: 'system' }, ['full']],
    [{ sslmode: 'verify-full', sslrootcert: 'system' }, ['full']],
    [{ sslnegotiation: 'direct' }, ['any']],
    [{ sslmode: 'verify-full', ssl_min_protocol_version: 'TLSv1.3' }, ['full']],
  ])('%j', (tls, ways) => {
    expect(verification(tls)).toEqual(ways);
  });

  test.each([
    { sslmode: 'verify-full', sslrootcert: '/nowhere/ca.pem' },
    { sslmode: 'require', sslrootcert: ca },
    { sslmode: 'require', sslcert: '/nowhere/client.pem' },
    { sslmode: 'require', sslrootcert: 'system' },
    { sslmode: 'sometimes' },
    { sslmode: 'verify-full', sslcrl: '/nowhere/list.pem' },
    { ssl_min_protocol_version: '1.3' },
    { sslmode: 'prefer', sslnegotiation: 'direct' },
  ])('%j is refused', (tls) => {
    expect(() => encryptions(tls)).toThrow(DatabaseStartError);
  });
});
