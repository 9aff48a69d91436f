import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listDeployments, readDeployment } from '../../../../src/kinds/deployment/store/deployments.js';
import { readLive } from '../../../../src/kinds/deployment/store/served.js';
import { byService, deleteDeployment, rollBack } from '../../../../src/kinds/deployment/store/names.js';
import { resolveDeployment } from '../../../../src/kinds/deployment/store/resolve.js';
import { deleteRows } from '../../../../src/retention/store/delete.js';
import { readExpired } from '../../../../src/retention/store/marks.js';
import { range } from '../../../support/range.js';
import { runs } from '../../../support/runs.js';
import { buildStored, publishStored } from '../../../support/stored-deployments.js';
import { databaseOfFile } from '../../../support/database-of-file.js';

// Invariants: a name is served by the last promoted deployment; a rollback restores the previous
// one that is not deleted; organizations are isolated; concurrent promotions are serializable.

const db = databaseOfFile(10);
const orgs = ['one', 'two'] as const;
type Org = (typeof orgs)[number];
beforeAll(async () => {
  for (const org of orgs)
    await db.org(org, (tx) => tx.query('insert into orgs (id, name) values ($1, $1) on conflict do nothing', [org]));
});

const build = async (org: Org, name: string) => (await buildStored(db, org, name)).id;
const publish = (org: Org, id: string, against?: string | null) => publishStored(db, org, id, against);

const back = (org: Org, id: string, name: string) =>
  db.org(org, async (tx) => {
    const found = await rollBack(tx, { id, name }, byService);
    return typeof found === 'string' ? found : found.id;
  });
const remove = (org: Org, id: string) => db.org(org, (tx) => deleteDeployment(tx, id, byService));
const previous = async (org: Org, name: string) =>
  new Map(
    (
      await db.org(org, (tx) =>
        tx.query<{ id: string; before: string | null }>(
          'select id, previous_id as before from deployments where name = $1 and live_at is not null',
          [name],
        ),
      )
    ).map(({ id, before }) => [id, before]),
  );
const liveOf = (org: Org, name: string) => db.org(org, async (tx) => (await readLive(tx, name))?.id ?? null);
let fresh = 0;
const freshName = () => `name-${(fresh += 1)}`;

interface Known {
  id: string;
  org: Org;
  name: string;
  published: boolean;
  deleted: boolean;
}

/** The reference model: for each name the deployments that served it, last on top. */
class Model {
  readonly all: Known[] = [];
  private readonly stacks = new Map<string, Known[]>();

  stack({ org, name }: { org: Org; name: string }): Known[] {
    const key = `${org} ${name}`;
    if (!this.stacks.has(key)) this.stacks.set(key, []);
    return this.stacks.get(key)!;
  }

  live(of: { org: Org; name: string }): string | null {
    const top = this.stack(of).at(-1);
    return top && !top.deleted ? top.id : null;
  }

  publish(deployment: Known, against?: string | null): 'promoted' | 'moved' | 'deleted' {
    if (against !== undefined && against !== this.live(deployment)) return 'moved';
    if (deployment.deleted) return 'deleted';
    this.stack(deployment).push(deployment);
    deployment.published = true;
    return 'promoted';
  }

  rollBack(deployment: Known): string {
    const stack = this.stack(deployment);
    if (stack.at(-1) !== deployment) return 'not_live';
    const before = stack.slice(0, -1).findLastIndex(({ deleted }) => !deleted);
    if (before < 0) return 'none_before';
    stack.splice(before + 1);
    return stack[before]!.id;
  }
}

const indexes = fc.record({ org: fc.constantFrom(...orgs), name: fc.nat(1) });
const pick = fc.nat(1_000);
const steps = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('build' as const), target: indexes }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('build and publish' as const), target: indexes }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      pick,
      against: fc.constantFrom('whatever', 'nothing', 'what is live', 'another'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('roll back' as const), pick, live: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), pick, live: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trespass' as const), pick }) },
);
type Step = typeof steps extends fc.Arbitrary<infer One> ? One : never;

const index = { org: 'one' as const, name: 0 };
const rollBackOf = (pick: number) => ({ do: 'roll back' as const, pick, live: false });
const deleteOf = (pick: number) => ({ do: 'delete' as const, pick, live: false });
/** Covers every kind of answer; the first deployment is the pick 0. */
const everyOutcome: Step[] = [
  { do: 'build and publish', target: index },
  rollBackOf(0),
  { do: 'build and publish', target: index },
  rollBackOf(0),
  { do: 'build and publish', target: index },
  deleteOf(1),
  rollBackOf(2),
  { do: 'build and publish', target: index },
  rollBackOf(3),
  { do: 'build', target: index },
  { do: 'publish', pick: 4, against: 'another' },
  deleteOf(4),
  { do: 'publish', pick: 4, against: 'whatever' },
  { do: 'trespass', pick: 0 },
];

describe('names', () => {
  test('are served as in the model, for any publishes, rollbacks and deletes', async () => {
    const [published, rolled] = [new Set<string>(), new Set<string>()];
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 30 }), async (sequence) => {
        const model = new Model();
        const names = [freshName(), freshName()];
        const runStep = async (step: Step) => {
          if (step.do === 'build' || step.do === 'build and publish') {
            const index = { org: step.target.org, name: names[step.target.name]! };
            const made = { ...index, id: await build(index.org, index.name), published: false, deleted: false };
            model.all.push(made);
            if (step.do === 'build and publish') {
              const found = await publish(index.org, made.id);
              expect(found).toBe(model.publish(made));
              published.add(found);
            }
            return;
          }
          const served = model.all.filter((known) => model.live(known) === known.id);
          const choices = 'live' in step && step.live && served.length > 0 ? served : model.all;
          const chosen = choices[step.pick % Math.max(1, choices.length)];
          if (!chosen) return;
          const { id, org, name } = chosen;
          if (step.do === 'publish') {
            if (chosen.published) return;
            const against = {
              whatever: undefined,
              nothing: null,
              'what is live': model.live(chosen),
              another: 'dep_another',
            }[step.against];
            const found = await publish(org, id, against);
            expect([step, found]).toEqual([step, model.publish(chosen, against)]);
            published.add(found);
          } else if (step.do === 'roll back') {
            const deletedBelow = model.stack(chosen).at(-2)?.deleted;
            const found = await back(org, id, name);
            expect(found).toBe(model.rollBack(chosen));
            rolled.add(found.startsWith('dep_') ? (deletedBelow ? 'one left out' : 'done') : found);
          } else if (step.do === 'delete') {
            expect(await remove(org, id)).toBe(!chosen.deleted);
            chosen.deleted = true;
          } else {
            const other = orgs.find((another) => another !== org)!;
            expect(await back(other, id, name)).toBe(
              model.live({ org: other, name }) === id ? 'unreachable' : 'not_live',
            );
            expect(await remove(other, id)).toBe(false);
            expect(await db.org(other, (tx) => readDeployment(tx, id))).toBeNull();
            expect(await db.org(other, (tx) => resolveDeployment(tx, id))).toBeNull();
          }
        };
        for (const step of sequence) {
          await runStep(step);
          await sameAs(model, names);
        }
        await listedAs(model, names);
        for (const { id, org, published, deleted } of model.all) {
          const found = await db.org(org, (tx) => resolveDeployment(tx, id));
          if (deleted) expect(found).toBeNull();
          else expect([found!.id, found!.snapshotId !== null]).toEqual([id, published]);
          const row = await db.org(org, (tx) => readDeployment(tx, id));
          expect(row?.status).toBe(deleted ? undefined : published ? 'ready' : 'pending');
        }
      }),
      { numRuns: runs(10, 40), examples: [[everyOutcome]] },
    );
    expect([...published].sort()).toEqual(['deleted', 'moved', 'promoted']);
    expect([...rolled].sort()).toEqual(['done', 'none_before', 'not_live', 'one left out']);
  }, 180_000);

  /** All queries for the serving deployment, of both organizations. */
  async function sameAs(model: Model, names: string[]): Promise<void> {
    for (const org of orgs) {
      const expected = names.map((name) => model.live({ org, name }));
      const seen = await db.org(org, async (tx) => ({
        live: await Promise.all(names.map(async (name) => (await readLive(tx, name))?.id ?? null)),
        resolved: await Promise.all(names.map(async (name) => (await resolveDeployment(tx, name))?.id ?? null)),
      }));
      expect([org, seen.live, seen.resolved]).toEqual([org, expected, expected]);
    }
  }

  /**
   * Lists hold existing deployments and mark the live one. Lists span all sequences: read once
   * each.
   */
  async function listedAs(model: Model, names: string[]): Promise<void> {
    for (const org of orgs) {
      const all = await db.org(org, (tx) =>
        listDeployments(tx, { name: undefined, status: undefined, limit: 1_000, offset: 0 }),
      );
      const listed = all.filter(({ name }) => names.includes(name));
      const kept = model.all.filter((known) => known.org === org && !known.deleted).map(({ id }) => id);
      expect(listed.map(({ id }) => id).sort()).toEqual(kept.sort());
      const marked = listed.filter(({ live }) => live).map(({ id }) => id);
      const expected = names.map((name) => model.live({ org, name })).filter((id) => id !== null);
      expect(marked.sort()).toEqual(expected.sort());
    }
  }

  test('serialize concurrent promotions: one is live, with all others behind it', async () => {
    for (const known of [false, true]) {
      const name = freshName();
      const first = known ? [await build('one', name)] : [];
      for (const id of first) await publish('one', id);
      const ids = await Promise.all(range(0, 8).map(() => build('one', name)));
      expect(await Promise.all(ids.map((id) => publish('one', id)))).toEqual(ids.map(() => 'promoted'));
      const before = await previous('one', name);
      expect(chain(before, await liveOf('one', name)).sort()).toEqual([...first, ...ids].sort());
    }
  });

  test('let one of many deployments judged against the same one take the name', async () => {
    for (const known of [false, true]) {
      const name = freshName();
      const incumbent = known ? await build('one', name) : null;
      if (incumbent) await publish('one', incumbent);
      const ids = await Promise.all(range(0, 8).map(() => build('one', name)));
      const found = await Promise.all(ids.map((id) => publish('one', id, incumbent)));
      expect(found.filter((result) => result === 'promoted')).toHaveLength(1);
      expect(found.filter((result) => result === 'moved')).toHaveLength(7);
      expect(await liveOf('one', name)).toBe(ids[found.indexOf('promoted')]);
    }
  });

  test('stay consistent under concurrent publishes, rollbacks and deletes', async () => {
    const rounds = fc.array(
      fc.array(fc.constantFrom('publish', 'roll back', 'delete'), { minLength: 2, maxLength: 8 }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const name = freshName();
        const gone = new Set<string>();
        const served: string[] = [];
        for (const round of all) {
          const fresh = await Promise.all(round.map(() => build('one', name)));
          const live = await liveOf('one', name);
          const taken: string[] = [];
          const rolled = await Promise.all(
            round.map(async (what, at) => {
              if (what === 'publish') {
                taken.push(fresh[at]!);
                await publish('one', fresh[at]!);
              } else if (live && what === 'delete') {
                gone.add(live);
                await remove('one', live);
              } else if (live) return back('one', live, name);
              return null;
            }),
          );
          // One of the concurrent rollbacks of the same deployment succeeds.
          expect(rolled.filter((found) => found?.startsWith('dep_')).length).toBeLessThanOrEqual(1);
          served.push(...taken);
          const before = await previous('one', name);
          expect([...before.keys()].sort()).toEqual([...served].sort());
          for (const id of served) expect(() => chain(before, id)).not.toThrow();
          const now = await liveOf('one', name);
          if (now) expect([served.includes(now), gone.has(now)]).toEqual([true, false]);
          // The last promoted one serves unless rolled back or deleted since, which only the
          // previous one can be.
          if (taken.length > 0) expect(taken.includes(now!)).toBe(true);
        }
      }),
      { numRuns: runs(8, 25) },
    );
  }, 120_000);
});

/** This deployment and its predecessors; throws on a cycle or a gap. */
function chain(before: Map<string, string | null>, from: string | null): string[] {
  const found: string[] = [];
  for (let id = from; id !== null; id = before.get(id)!) {
    if (found.includes(id) || !before.has(id)) throw new Error(`${found.join()} leads to ${id}`);
    found.push(id);
  }
  return found;
}

test('a deployment deleted long ago expires, and a rollback still finds the one before it', async () => {
  const org = 'one';
  const [first, second, third] = [await build(org, 'aged'), await build(org, 'aged'), await build(org, 'aged')];
  for (const id of [first, second, third]) expect(await publish(org, id)).toBe('promoted');
  const close = 'update jobs set completed_at = now() - make_interval(days => 100) where id = any($1)';
  await db.org(org, (tx) => tx.query(close, [[first, second, third]]));
  await remove(org, second);
  const expired = async () => (await db.worker((tx) => readExpired(tx, 'job', 30, 100))).map(({ jobId }) => jobId);
  expect(await expired()).toEqual([]);
  await db.org(org, (tx) =>
    tx.query(`update deployments set deleted_at = now() - interval '31 days' where id = $1`, [second]),
  );
  expect(await expired()).toEqual([second]);
  await deleteRows(db, { orgId: org, jobId: second });
  expect(await back(org, third, 'aged')).toBe(first);
  await remove(org, first);
  await db.org(org, (tx) =>
    tx.query(`update deployments set deleted_at = now() - interval '31 days' where id = $1`, [first]),
  );
  await deleteRows(db, { orgId: org, jobId: first });
  expect(await db.org(org, (tx) => readLive(tx, 'aged'))).toBeNull();
});
