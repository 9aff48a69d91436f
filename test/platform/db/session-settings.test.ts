import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createGroupCommit } from '../../../src/platform/db/group-commit.js';
import { migrate } from '../../../src/platform/db/migrate.js';
import { pino } from 'pino';
import { suite } from '../../support/environment.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { evaluationRequest, startHttp } from '../http/support.js';

let admin: pg.Client;
let database: string;
let url: string;
beforeAll(async () => {
  url = await createDatabase();
  database = new URL(url).pathname.slice(1);
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
});
afterAll(() => admin.end());

interface Parameter {
  name: string;
  vartype: 'bool' | 'enum' | 'integer' | 'real' | 'string';
  reset_val: string;
  enumvals: string[] | null;
  min_val: string | null;
  max_val: string | null;
  unit: string | null;
}

/** Values of texts that change how Postgres reads, writes or finds something. */
const texts: Record<string, string[]> = {
  DateStyle: ['SQL, DMY', 'German', 'Postgres, MDY', 'ISO, DMY'],
  TimeZone: ['Asia/Kathmandu', 'America/St_Johns'],
  search_path: ['nowhere', '"$user"', 'pg_catalog'],
  client_encoding: ['LATIN1', 'SJIS'],
  default_table_access_method: ['nowhere'],
  default_tablespace: ['nowhere'],
  temp_tablespaces: ['nowhere'],
  restrict_nonsystem_relation_kind: ['view'],
  'app.org': ['other'],
  'app.scope': ['worker'],
  'app.audit_days': ['x'],
};

/** Limits whose least value says that no statement may run at all. */
const unusable = new Set(['temp_file_limit', 'default_transaction_read_only', 'transaction_read_only']);

function oddValues({ name, vartype, reset_val, enumvals, min_val, max_val, unit }: Parameter): string[] {
  if (vartype === 'bool') return [reset_val === 'on' ? 'off' : 'on'];
  if (vartype === 'enum') return enumvals!.filter((value) => value !== reset_val);
  if (vartype === 'string') return texts[name] ?? [];
  // A limit of 0 is none; 1 ms ends a connection before anybody can use it.
  const least = Number(min_val) > 0 ? [] : [unit === 'ms' ? '100' : '1'];
  return [...new Set([min_val!, max_val!, ...least])].filter((value) => value !== reset_val);
}

async function parameters(): Promise<Parameter[]> {
  const { rows } = await admin.query<Parameter>(
    `select name, vartype, reset_val, enumvals, min_val, max_val, unit from pg_settings
      where context in ('user', 'superuser') and name !~ '^(debug_|trace_|log_)' order by name`,
  );
  const ours = Object.keys(texts)
    .filter((name) => name.startsWith('app.'))
    .map((name): Parameter => {
      const none = { enumvals: null, min_val: null, max_val: null, unit: null };
      return { name, vartype: 'string', reset_val: '', ...none };
    });
  return [...rows.filter(({ name }) => !unusable.has(name)), ...ours];
}

/** Sets a value at the database; false: Postgres takes it nowhere but in a session. */
async function set(name: string, value: string): Promise<boolean> {
  const quoted = name === 'search_path' ? value : pg.escapeLiteral(value);
  try {
    await admin.query(`alter database "${database}" set ${name} = ${quoted}`);
    return true;
  } catch (error) {
    if (['55P02', '22023', '25001', '42501', '0A000'].includes((error as pg.DatabaseError).code ?? '')) return false;
    throw error;
  }
}

/** Creates a job and reads it, waits for an event, commits in a group, migrates again. */
async function use(): Promise<unknown> {
  const http = await startHttp({}, url);
  try {
    const woken = new Promise<void>((wake) => http.deps.notifications.on('ratchet_events', 'evl_none', wake));
    const { body: created, status } = await http.call('POST', '/api/v1/offline/jobs', evaluationRequest);
    const { body: job } = await http.call('GET', `/api/v1/offline/jobs/${created.job_id}`);
    const { body: list } = await http.call('GET', '/api/v1/offline/jobs?limit=1');
    const [row] = await createGroupCommit(http.db)
      .tx('default', 'x')
      .query<Record<string, unknown>>(
        `select $1::text[] as texts, 0.1::float8 + 0.2::float8 as sum, '\\x00ff'::bytea as bytes,
                '2026-03-04T05:06:07.089Z'::timestamptz as at, 'a\\b' as backslash, current_user::text as role,
                current_setting('transaction_isolation') as isolation, '1 day 2 s'::interval::text as interval`,
        [['NULL', 'x']],
      );
    await http.db.worker((tx) => tx.query(`select pg_notify('ratchet_events', 'evl_none')`));
    await woken;
    await migrate(url, pino({ level: 'silent' }));
    return { status, job: job.status, listed: list.data[0].job_id === created.job_id, created: job.created_at, row };
  } finally {
    await http.close();
  }
}

const expected = {
  status: 201,
  job: 'running',
  listed: true,
  created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  row: {
    texts: ['NULL', 'x'],
    sum: 0.1 + 0.2,
    bytes: Buffer.from([0, 255]),
    at: new Date('2026-03-04T05:06:07.089Z'),
    backslash: 'a\\b',
    role: 'ratchet_app',
    isolation: 'read committed',
    interval: '1 day 00:00:02',
  },
};

const known = ['DateStyle', 'row_security', 'default_transaction_isolation', 'search_path', 'array_nulls', 'app.org'];
const walks =
  suite === 'all' ? null : new Set([...known, 'extra_float_digits', 'idle_session_timeout', 'IntervalStyle']);

test('no value of a setting that the database carries changes what the service does', async () => {
  let tried = 0;
  const broken: Record<string, unknown> = {};
  for (const parameter of await parameters()) {
    if (walks && !walks.has(parameter.name)) continue;
    for (const value of oddValues(parameter)) {
      if (!(await set(parameter.name, value))) continue;
      tried += 1;
      const seen = await use().catch((error: Error) => error);
      try {
        expect(seen).toEqual(expected);
      } catch {
        broken[`${parameter.name} = ${value}`] = seen;
      }
      await admin.query(`alter database "${database}" reset ${parameter.name}`);
    }
  }
  expect(broken).toEqual({});
  expect(tried).toBeGreaterThan(walks ? 15 : 200);
}, 600_000);
