import { expect, test } from '@jest/globals';
import pg from 'pg';
import { Route } from '../../../src/platform/db/route.js';

// Which ways to its servers a URL tries after an error, and where the next connection begins.

const failed = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
const answered = (code: string) => Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code });
const withoutTls = new Error('The server does not support SSL connections');
const exhausted = new Error('timeout exceeded when trying to connect');

/** The ways of one `connect` whose tries all fail, and the way of the next one. */
async function tried(url: string, error: Error): Promise<string[]> {
  const route = new Route(url, () => '');
  const ways: string[] = [];
  const way = () => `${route.here.host}${route.here.ssl ? ' tls' : ''}`;
  await route
    .connect(() => {
      ways.push(way());
      return Promise.reject(error);
    })
    .catch(() => undefined);
  return [...ways, `then ${way()}`];
}

const one = 'postgres://u@a/d';
const two = 'postgres://u@a,b/d';

test.each<[string, string, Error, string[]]>([
  ['a server that is down', one, failed('ECONNREFUSED'), ['a tls', 'then a tls']],
  ['an exhausted pool', one, exhausted, ['a tls', 'then a tls']],
  ['an exhausted pool of two servers', two, exhausted, ['a tls', 'then a tls']],
  ['a server without TLS', one, withoutTls, ['a tls', 'a', 'then a tls']],
  ['a role that TLS does not admit', one, answered('28000'), ['a tls', 'a', 'then a tls']],
  ['a wrong password', two, answered('28P01'), ['a tls', 'then a tls']],
  ['a missing database', two, answered('3D000'), ['a tls', 'then a tls']],
  ['two servers that are down', two, failed('ECONNREFUSED'), ['a tls', 'b tls', 'then a tls']],
  ['two servers that start', two, answered('57P03'), ['a tls', 'b tls', 'then a tls']],
  ['only TLS, a server without it', `${one}?sslmode=require`, withoutTls, ['a tls', 'then a tls']],
])('%s', async (_, url, error, ways) => {
  expect(await tried(url, error)).toEqual(ways);
});

test('a server without TLS is not asked for it again', async () => {
  const route = new Route(one, () => '');
  await route.connect(() => (route.here.ssl ? Promise.reject(withoutTls) : Promise.resolve()));
  expect(route.here.ssl).toBe(false);
});
