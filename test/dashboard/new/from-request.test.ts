import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSessionSchema } from '../../../src/kinds/session/contract/create.js';
import { flatEvaluationSchema } from '../../../src/kinds/evaluation/contract/evaluation.js';
import { mergePatch, patchBetween } from '../../../src/util/merge-patch.js';
import type { Draft } from '../../../dashboard/src/pages/new/form/draft.js';
import {
  changesBetween,
  draftOf,
  fitsForm,
  hiddenFields,
  requestFrom,
  type Body,
  type Source,
} from '../../../dashboard/src/pages/new/form/from-request.js';

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const model = fc.record(
  { provider: word, model: word, temperature: fc.constantFrom(0, 0.5), stop: fc.array(word, { maxLength: 2 }) },
  { requiredKeys: ['provider', 'model'] },
);
const messages = fc.array(
  fc.record(
    { role: fc.constantFrom('system', 'user'), content: word, name: word },
    { requiredKeys: ['role', 'content'] },
  ),
  { minLength: 1, maxLength: 3 },
);
const scorer = fc.oneof(
  fc.constantFrom<unknown>(
    'exact',
    { type: 'exact', case_sensitive: true },
    { type: 'regex', pattern: '(a),' },
    { type: 'json', fields: ['a', 'b'], schema: { type: 'object' } },
    { type: 'json', fields: ['a,b'] },
    { type: 'rubric', criteria: 'Right?', model: 'm' },
    { type: 'rubric', criteria: { criteria: [{ name: 'right', weight: 1, description: '' }] }, model: 'm' },
    { type: 'weighted', parts: [{ weight: 1, scorer: 'exact' }] },
  ),
);
const dataset = fc.record(
  { dataset_id: fc.constant('ds_1'), input: word, expected: word },
  { requiredKeys: ['dataset_id'] },
);
const labels = { name: word, tags: fc.array(word, { maxLength: 2 }), metadata: fc.dictionary(word, word), notes: word };
const run = { policy: model, max_concurrent: fc.integer({ min: 1, max: 9 }), answer_cache: fc.boolean() };
const settings = fc.record({ generations: fc.integer({ min: 1, max: 9 }), evaluation: fc.constant({ seeds: [1, 2] }) });

const session: fc.Arbitrary<Source> = fc
  .record(
    {
      algorithm: fc.constant('gepa'),
      gepa: settings,
      dataset,
      scorer,
      initial_prompt: fc.record({ messages }),
      proposer: model,
      budget: fc.record({ max_rollouts: fc.nat(), max_minutes: fc.nat(9) }, { requiredKeys: [] }),
      rng_seed: fc.nat(),
      patience: fc.nat(),
      ...run,
    },
    { requiredKeys: ['algorithm', 'gepa', 'dataset', 'scorer', 'initial_prompt', 'policy', 'rng_seed'] },
  )
  .chain((held) =>
    fc.record(labels, { requiredKeys: ['tags'] }).map((own) => ({
      kind: 'session' as const,
      request: { policy_optimization: held, ...own },
      prompt: held.initial_prompt.messages as Source['prompt'],
    })),
  );

const evaluation: fc.Arbitrary<Source> = messages.chain((prompt) =>
  fc
    .record(
      {
        dataset,
        scorer,
        candidate: fc.constantFrom<unknown>({ messages: prompt }, { session_id: 'ses_1', candidate_id: 'cand_1' }),
        timeout: fc.integer({ min: 1, max: 999 }),
        seeds: fc.array(fc.nat(), { maxLength: 3 }),
        budget: fc.record({ max_cost_usd: fc.constantFrom(0.5, 2) }),
        ...labels,
        ...run,
      },
      { requiredKeys: ['dataset', 'scorer', 'candidate', 'policy', 'timeout', 'tags'] },
    )
    .map((request) => ({ kind: 'evaluation' as const, request, prompt: prompt as Source['prompt'] })),
);

const heldBy = ({ kind }: Source, body: Body) => (kind === 'session' ? (body['policy_optimization'] as Body) : body);

describe('the form of a request', () => {
  test('without a change makes the same request', () => {
    fc.assert(
      fc.property(fc.oneof(session, evaluation), (source) => {
        expect(requestFrom(source, draftOf(source))).toEqual(source.request);
      }),
    );
  });

  test('shows most requests on rows', () => {
    const shown = fc.sample(fc.oneof(session, evaluation), { numRuns: 200, seed: 1 }).filter(fitsForm);
    expect(shown.length).toBeGreaterThan(100);
  });

  const edits: [string, Partial<Draft>, RegExp][] = [
    ['the data set', { datasetId: 'ds_2' }, /\/dataset\//],
    ['the prompt', { messages: [{ role: 'user', content: 'Another.' }] }, /\/(initial_prompt|candidate)\b/],
    ['the model', { provider: 'other', model: 'another' }, /\/policy\//],
    ['the scorer', { scorer: { type: 'numeric', values: {} } }, /\/scorer\b/],
    ['a setting of the scorer', { scorer: { type: 'exact', values: { case_sensitive: true } } }, /\/scorer\b/],
    ['the limits', { dollars: '9', minutes: '7' }, /\/(budget|timeout)\b/],
    ['the name', { name: 'changed' }, /^\/name$/],
  ];
  test.each(edits)('changed in %s loses nothing else, and shows the change', (_, edit, place) => {
    fc.assert(
      fc.property(fc.oneof(session, evaluation).filter(fitsForm), (source) => {
        const changed = { ...draftOf(source), ...edit };
        const request = requestFrom(source, changed);
        const pointers = changesBetween(source.request, request).map(({ pointer }) => pointer);
        expect(pointers.filter((pointer) => !place.test(pointer))).toEqual([]);
        const prompt = changed.messages;
        expect(draftOf({ ...source, request, prompt })).toMatchObject({
          ...edit,
          ...(edit.scorer && { scorer: { type: edit.scorer.type } }),
        });
        expect(patchesTo(source.request, request)).toEqual(request);
      }),
    );
  });

  test('makes requests that the service takes', () => {
    const [body] = [
      {
        policy_optimization: {
          algorithm: 'gepa',
          gepa: { generations: 3, population_size: 2 },
          dataset: { dataset_id: 'ds_1' },
          scorer: 'exact',
          patience: 3,
          policy: { provider: 'local', model: 'local', temperature: 0 },
          initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
        },
      },
    ];
    const source: Source = { kind: 'session', request: body!, prompt: [{ role: 'system', content: 'Answer.' }] };
    const request = requestFrom(source, {
      ...draftOf(source),
      algorithm: 'mipro',
      scorer: { type: 'numeric', values: {} },
    });
    expect(createSessionSchema.safeParse(request).error?.issues ?? []).toEqual([]);
    expect(heldBy(source, request)).toMatchObject({ patience: 3, policy: { temperature: 0 } });
    expect(heldBy(source, request)['gepa']).toBeUndefined();
    const reference: Source = {
      kind: 'evaluation',
      request: {
        dataset: { dataset_id: 'ds_1' },
        scorer: 'exact',
        policy: { provider: 'local', model: 'local' },
        candidate: { session_id: 'ses_1' },
      },
      prompt: source.prompt,
    };
    const edited = requestFrom(reference, { ...draftOf(reference), messages: [{ role: 'user', content: 'Other.' }] });
    expect(edited['candidate']).toEqual({ messages: [{ role: 'user', content: 'Other.' }] });
    expect(flatEvaluationSchema.safeParse(edited).error?.issues ?? []).toEqual([]);
  });

  test('names the fields that it does not show', () => {
    const source: Source = {
      kind: 'evaluation',
      request: {
        dataset: { dataset_id: 'ds_1' },
        scorer: 'exact',
        policy: { provider: 'a', model: 'm', temperature: 0 },
        seeds: [1],
        timeout: 600,
        candidate: { messages: [{ role: 'user', content: 'x' }] },
      },
      prompt: [{ role: 'user', content: 'x' }],
    };
    expect(
      hiddenFields(source)
        .map(({ pointer }) => pointer)
        .sort(),
    ).toEqual(['/policy/temperature', '/seeds']);
  });

  test.each([
    ['a graph job', { kind: 'graph', request: { policy_model: 'm' }, prompt: null }],
    [
      'a container',
      {
        kind: 'session',
        request: { policy_optimization: { container_url: 'http://x' } },
        prompt: [{ role: 'user', content: 'x' }],
      },
    ],
  ] as [string, Source][])('of %s is its JSON', (_, source) => {
    expect(JSON.parse(draftOf(source).json!)).toEqual(source.request);
    expect(requestFrom(source, draftOf(source))).toEqual(source.request);
  });
});

const patchesTo = (before: Body, after: Body) => mergePatch(before, patchBetween(before, after));

test('a patch between two values makes the one of the other', () => {
  const leaf = fc.oneof(fc.nat(3), word, fc.array(fc.nat(2), { maxLength: 2 }));
  const object = fc.dictionary(word, fc.oneof(leaf, fc.dictionary(fc.constantFrom('a', 'b'), leaf)), { maxKeys: 4 });
  fc.assert(fc.property(object, object, (before, after) => expect(patchesTo(before, after)).toEqual(after)));
});
