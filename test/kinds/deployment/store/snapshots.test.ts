import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { GraphJson } from '../../../../src/kinds/graph/contract/graph.js';
import type { SnapshotContent } from '../../../../src/kinds/deployment/contract/snapshot.js';
import { graphFromJson } from '../../../../src/core/graphs/json.js';
import { graphText } from '../../../../src/core/graphs/text.js';
import { putSnapshot, readSnapshot, snapshotId } from '../../../../src/kinds/deployment/store/snapshots.js';
import { databaseOfFile } from '../../../support/database-of-file.js';

// Invariants: equal content has an equal id in any order of fields; the stored content is the
// hashed one and never changes.

const db = databaseOfFile(4);

const put = (content: SnapshotContent, org = 'one') => db.org(org, (tx) => putSnapshot(tx, org, content));
const read = (id: string, org = 'one') => db.org(org, (tx) => readSnapshot(tx, id));
const text = fc.string({ unit: 'grapheme', maxLength: 20 });

const promptContent: fc.Arbitrary<SnapshotContent> = fc.record({
  kind: fc.constant('messages' as const),
  messages: fc.array(fc.record({ role: fc.constantFrom('system', 'user'), content: text }), { maxLength: 3 }),
  demos: fc.array(
    fc.record({
      component: fc.option(text),
      seed: fc.option(fc.nat()),
      ordinal: fc.nat(),
      input: text,
      output: text,
    }),
    { maxLength: 2 },
  ),
  levers_marked: fc.boolean(),
  policy: fc
    .record({ params: fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), model: text })
    .map(({ params, model }) => ({ ...params, provider: 'fake', model })),
  lever_versions: fc.dictionary(text, fc.nat(), { maxKeys: 3 }),
  provenance: fc.record({
    source: fc.constant('session' as const),
    job_id: text,
    candidate_id: text,
    reward: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    verdict: fc.constant(null),
  }),
});

/** The same JSON with the fields of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, shuffled(inner)]),
  );
}

test('equal content has an equal id in any order of fields; other content has another id', async () => {
  await fc.assert(
    fc.asyncProperty(promptContent, async (content) => {
      const id = await put(content);
      expect(id).toMatch(/^snap_[0-9a-f]{64}$/);
      const first = (await read(id))!;
      // The given content, not the database's form, except characters that Postgres rejects.
      expect(snapshotId(first.content)).toBe(id);
      expect(await put(shuffled(content) as SnapshotContent)).toBe(id);
      // The first one remains.
      expect(await read(id)).toEqual(first);
      expect(await put({ ...first.content, lever_versions: { ...content.lever_versions, more: 1e6 } })).not.toBe(id);
    }),
    { numRuns: 60 },
  );
});

test('a graph keeps the order of its inputs, which is part of its content', async () => {
  const graphWith = (inputs: Record<string, string>): SnapshotContent => {
    const step = {
      id: 'solve',
      type: 'llm' as const,
      inputs,
      output: { field: 'answer' },
      messages: [{ role: 'user' as const, content: '{{thought}} {{question}}' }],
    };
    const graph: GraphJson = { inputs: ['question', 'thought'], steps: [step], output: 'solve.answer' };
    return {
      kind: 'graph',
      graph,
      graph_txt: graphText(graphFromJson(graph)),
      policies: [{ provider: 'fake', model: 'm' }],
      lever_versions: {},
      provenance: { source: 'graph_job', job_id: 'grf_1', candidate_id: 'cand_1', reward: 1, verdict: null },
    };
  };
  const content = graphWith({ thought: 'input.thought', question: 'input.question' });
  const id = await put(content);
  const stored = (await read(id))!.content;
  expect(JSON.stringify(stored)).toBe(JSON.stringify(content));
  const { graph, ...rest } = content as Extract<SnapshotContent, { kind: 'graph' }>;
  const { steps, ...ofGraph } = graph;
  expect(await put({ graph: { steps, ...ofGraph }, ...rest })).toBe(id);
  expect(await put(graphWith({ question: 'input.question', thought: 'input.thought' }))).not.toBe(id);
});

test('is immutable, and each organization has its own', async () => {
  const [content] = fc.sample(promptContent, 1);
  const id = await put(content!);
  expect(await db.org('one', (tx) => tx.query('delete from snapshots returning 1'))).toEqual([]);
  for (const statement of [`update snapshots set content = '{}'`, 'truncate snapshots'])
    await expect(db.org('one', (tx) => tx.query(statement))).rejects.toThrow(/permission denied/);
  expect(await read(id, 'two')).toBeNull();
  expect(await put(content!, 'two')).toBe(id);
  expect((await read(id, 'two'))!.content).toEqual((await read(id))!.content);
});
