import { beforeAll, expect, test } from '@jest/globals';
import { byService, setLabel } from '../../../../src/kinds/deployment/store/names.js';
import { resolveDeployment, resolveLabelled } from '../../../../src/kinds/deployment/store/resolve.js';
import { range } from '../../../support/range.js';
import { buildStored, publishStored } from '../../../support/stored-deployments.js';
import { databaseOfFile } from '../../../support/database-of-file.js';

// Invariant: a request reads a few rows to find its deployment, however many there are.

const db = databaseOfFile(4);
const org = 'one';
let id: string;
beforeAll(async () => {
  await db.org(org, (tx) => tx.query('insert into orgs (id, name) values ($1, $1)', [org]));
  for (const number of range(0, 99)) {
    const name = `name-${number % 20}`;
    ({ id } = await buildStored(db, org, name));
    await publishStored(db, org, id);
    const target = { id };
    await db.org(org, (tx) => setLabel(tx, { name, label: `label-${number % 3}`, target }, byService));
  }
}, 60_000);

test.each(['name-1', 'name-1@label-1', 'name-1@production', 'name-1@3', 'an id', 'nothing'])(
  '%s is resolved by indexes',
  async (ref) => {
    const asked = ref === 'an id' ? id : ref;
    const count = `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as n, coalesce(sum(seq_scan), 0)::int as scans
                     from pg_stat_xact_user_tables`;
    for (const resolve of [resolveDeployment, resolveLabelled]) {
      await db.org(org, async (tx) => {
        const [before] = await tx.query<{ n: number; scans: number }>(count);
        const found = await resolve(tx, asked);
        const [after] = await tx.query<{ n: number; scans: number }>(count);
        expect(found !== null).toBe(ref !== 'nothing');
        expect(after!.scans - before!.scans).toBe(0);
        // The deployment, its name, and at most the three labels of that.
        expect(after!.n - before!.n).toBeLessThan(10);
      });
    }
  },
);
