import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKey } from '../../../../src/access/store/keys.js';
import { listChanges } from '../../../../src/kinds/deployment/store/changes.js';
import { readDeployment } from '../../../../src/kinds/deployment/store/deployments.js';
import {
  deleteDeployment,
  listLabels,
  mostLabels,
  removeLabel,
  rollBack,
  setLabel,
} from '../../../../src/kinds/deployment/store/names.js';
import { resolveDeployment } from '../../../../src/kinds/deployment/store/resolve.js';
import { deleteRows } from '../../../../src/retention/store/delete.js';
import { range } from '../../../support/range.js';
import { runs } from '../../../support/runs.js';
import { buildStored, publishStored } from '../../../support/stored-deployments.js';
import { databaseOfFile } from '../../../support/database-of-file.js';

// Invariants: the versions of a name are 1, 2, … and none is given twice; a label names the ready
// deployment that it was set to last, and nothing once that is deleted; a rollback returns to what
// served before, by hand or by a build; the changes of a name lead to what it serves.

const db = databaseOfFile(10);
const org = 'one';
beforeAll(() => db.org(org, (tx) => tx.query('insert into orgs (id, name) values ($1, $1)', [org])));

let fresh = 0;
const freshName = () => `name-${(fresh += 1)}`;
const by = { keyId: null, reason: 'a reason' };
const build = (name: string) => buildStored(db, org, name);
const publish = (id: string) => publishStored(db, org, id);
const set = (name: string, label: string, version: number) =>
  db.org(org, (tx) => setLabel(tx, { name, label, target: { version } }, by));
const unset = (name: string, label: string) => db.org(org, (tx) => removeLabel(tx, { name, label }, by));
const remove = (id: string) => db.org(org, (tx) => deleteDeployment(tx, id, by));
const back = async (id: string, name: string) => {
  const found = await db.org(org, (tx) => rollBack(tx, { id, name }, by));
  return typeof found === 'string' ? found : found.version;
};
const labelsOf = async (name: string) =>
  Object.fromEntries((await db.org(org, (tx) => listLabels(tx, name))).map(({ label, version }) => [label, version]));
const changesOf = (name: string) => db.org(org, (tx) => listChanges(tx, name, { after: undefined, limit: 1_000 }));

/** What the changes of a name lead to; throws where one does not begin with what is served. */
async function replayed(name: string): Promise<Record<string, number>> {
  const served = new Map<string, number>();
  for (const { label, from, to } of (await changesOf(name)).toReversed()) {
    expect([label, served.get(label) ?? null]).toEqual([label, from]);
    if (to === null) served.delete(label);
    else served.set(label, to);
  }
  return Object.fromEntries(served);
}

describe('versions', () => {
  test('are numbered per name, each once, whatever is made and deleted at the same time', async () => {
    const rounds = fc.array(fc.record({ made: fc.integer({ min: 1, max: 6 }), gone: fc.nat(3) }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const [name, other] = [freshName(), freshName()];
        const made: { id: string; version: number }[] = [];
        for (const round of all) {
          const gone = made.splice(0, round.gone);
          const [built] = await Promise.all([
            Promise.all(range(0, round.made).map(() => build(name))),
            Promise.all(gone.map(({ id }) => remove(id))),
          ]);
          made.push(...built);
        }
        const count = all.reduce((sum, { made }) => sum + made, 0);
        const rows = await db.org(org, (tx) =>
          tx.query<{ version: number }>('select version from deployments where name = $1 order by version', [name]),
        );
        expect(rows.map(({ version }) => version)).toEqual(range(1, count));
        for (const { id } of made) await deleteRows(db, { orgId: org, jobId: id });
        expect((await build(name)).version).toBe(count + 1);
        expect((await build(other)).version).toBe(1);
      }),
      { numRuns: runs(10, 40) },
    );
  }, 120_000);
});

/** The reference model of a name. */
class Model {
  readonly built: { id: string; ready: boolean; deleted: boolean }[] = [];
  readonly labels = new Map<string, number>();
  /** Versions that served, last on top; each stands once. */
  stack: number[] = [];

  at(version: number) {
    return this.built[version - 1]!;
  }

  live(): number | null {
    const top = this.stack.at(-1);
    return top !== undefined && !this.at(top).deleted ? top : null;
  }

  serve(version: number): void {
    if (this.stack.at(-1) === version) return;
    this.stack = [...this.stack.filter((other) => other !== version), version];
  }

  rollBack(version: number): number | string {
    if (this.stack.at(-1) !== version) return 'not_live';
    const before = this.stack.slice(0, -1).findLastIndex((other) => !this.at(other).deleted);
    if (before < 0) return 'none_before';
    this.stack = this.stack.slice(0, before + 1);
    return this.stack[before]!;
  }

  served(): Record<string, number> {
    const live = this.live();
    return { ...(live !== null && { production: live }), ...Object.fromEntries(this.labels) };
  }
}

const pick = fc.nat(1_000);
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('build' as const), publish: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      pick,
      label: fc.constantFrom('production', 'staging', 'eval'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('roll back' as const), live: fc.boolean(), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('unset' as const), label: fc.constantFrom('staging', 'eval') }),
  },
);

describe('labels', () => {
  test('and the name serve as in the model, which the changes lead to', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 25 }), async (sequence) => {
        const [model, name] = [new Model(), freshName()];
        for (const step of sequence) {
          if (step.do === 'build') {
            const { id, version } = await build(name);
            model.built.push({ id, ready: step.publish, deleted: false });
            if (step.publish) {
              await publish(id);
              model.serve(version);
            }
          } else if (step.do === 'unset') {
            expect(await unset(name, step.label)).toBe(model.labels.delete(step.label));
          } else if (model.built.length > 0) {
            const picked = (step.pick % model.built.length) + 1;
            const version = 'live' in step && step.live ? (model.stack.at(-1) ?? picked) : picked;
            const chosen = model.at(version);
            if (step.do === 'roll back') expect(await back(chosen.id, name)).toBe(model.rollBack(version));
            else if (step.do === 'delete') {
              expect(await remove(chosen.id)).toBe(!chosen.deleted);
              chosen.deleted = true;
              for (const [label, named] of model.labels) if (named === version) model.labels.delete(label);
            } else {
              const before = model.served()[step.label] ?? null;
              const expected = chosen.deleted
                ? { is: 'unknown' }
                : chosen.ready
                  ? { is: 'set', id: chosen.id, version, previous: before }
                  : { is: 'not_ready' };
              expect(await set(name, step.label, version)).toEqual(expected);
              if (expected.is !== 'set') continue;
              if (step.label === 'production') model.serve(version);
              else model.labels.set(step.label, version);
            }
          }
          const served = model.served();
          expect([step, await labelsOf(name)]).toEqual([step, served]);
          expect(await replayed(name)).toEqual(served);
        }
        await resolvedAs(model, name);
      }),
      { numRuns: runs(10, 60) },
    );
  }, 180_000);

  /** Every reference, by the statement of requests and by that of reads. */
  async function resolvedAs(model: Model, name: string): Promise<void> {
    const served = model.served();
    const expected = new Map<string, number | null>([[name, model.live()]]);
    for (const label of ['production', 'staging', 'eval']) expected.set(`${name}@${label}`, served[label] ?? null);
    model.built.forEach(({ deleted }, index) => {
      expected.set(`${name}@${index + 1}`, deleted ? null : index + 1);
    });
    expected.set(`${name}@${model.built.length + 1}`, null);
    for (const [ref, version] of expected) {
      const [resolved, read] = await db.org(org, async (tx) => [
        await resolveDeployment(tx, ref),
        await readDeployment(tx, ref),
      ]);
      expect([ref, resolved?.version ?? null]).toEqual([ref, version]);
      // A name that serves nothing stands for its newest in reads.
      if (version !== null || ref !== name) expect([ref, read?.version ?? null]).toEqual([ref, version]);
      if (read) expect(read.labels).toEqual(labelsIn(served, read.version));
    }
  }

  const labelsIn = (served: Record<string, number>, version: number) => {
    const names = Object.keys(served).filter((label) => served[label] === version);
    return names.sort((a, b) => Number(b === 'production') - Number(a === 'production') || (a < b ? -1 : 1));
  };

  test('stay consistent when builds, rollbacks, labels and deletes come at once', async () => {
    const kinds = fc.constantFrom('publish', 'production', 'staging', 'roll back', 'delete', 'unset');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(kinds, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 5 }),
        async (rounds) => {
          const name = freshName();
          const first = await build(name);
          await publish(first.id);
          const all = [first];
          for (const round of rounds) {
            const made = await Promise.all(round.map(() => build(name)));
            const known = all[all.length - 1]!;
            await Promise.all(
              round.map((what, at) => {
                if (what === 'publish') return publish(made[at]!.id);
                if (what === 'roll back') return back(known.id, name);
                if (what === 'delete') return remove(all[at % all.length]!.id);
                if (what === 'unset') return unset(name, 'staging');
                return set(name, what, all[at % all.length]!.version);
              }),
            );
            all.push(...made.filter((_, at) => round[at] === 'publish'));
            expect(await replayed(name)).toEqual(await labelsOf(name));
          }
          // From what serves, rollbacks visit each version at most once.
          const seen: number[] = [];
          for (let at = (await labelsOf(name))['production']; at !== undefined;) {
            expect(seen).not.toContain(at);
            seen.push(at);
            const found = await back(all.find(({ version }) => version === at)!.id, name);
            at = typeof found === 'number' ? found : undefined;
          }
        },
      ),
      { numRuns: runs(8, 40) },
    );
  }, 180_000);

  test('are at most 50 of a name, whoever sets them at once', async () => {
    const name = freshName();
    const { id, version } = await build(name);
    await publish(id);
    const all = await Promise.all(range(0, mostLabels + 5).map((number) => set(name, `label-${number}`, version)));
    expect(all.filter(({ is }) => is === 'set')).toHaveLength(mostLabels);
    expect(all.filter(({ is }) => is === 'full')).toHaveLength(5);
    const taken = (await changesOf(name)).find(({ label }) => label.startsWith('label-'))!.label;
    expect(await set(name, taken, version)).toMatchObject({ is: 'set', previous: version });
  });
});

test('a change names its key, its reason and its versions; a build those of its deployment', async () => {
  const name = freshName();
  const secret = { orgId: org, name: 'ci', scopes: ['write' as const], expiresAt: null };
  const keyId = await db.org(org, async (tx) => (await createKey(tx, Buffer.alloc(32, 7), secret)).record.id);
  const made = await buildStored(db, org, name, { keyId, reason: 'the weekly run' });
  await publish(made.id);
  await db.org(org, (tx) => setLabel(tx, { name, label: 'staging', target: made }, { keyId, reason: null }));
  await remove(made.id);
  const ci = { keyId, keyName: 'ci' };
  expect(await changesOf(name)).toMatchObject([
    { label: 'staging', action: 'delete', from: 1, to: null, by: null, reason: 'a reason' },
    { label: 'production', action: 'delete', from: 1, to: null, by: null, reason: 'a reason' },
    { label: 'staging', action: 'label', from: null, to: 1, by: ci, reason: null },
    { label: 'production', action: 'build', from: null, to: 1, by: ci, reason: 'the weekly run' },
  ]);
});
