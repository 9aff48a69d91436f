import { expect, test } from '@jest/globals';
import type { GraphSpec, JobSpec, SessionSpec } from '../../../src/core/jobs/spec.js';
import { jsonFields, jsonRecord } from '../../../src/platform/db/json-fields.js';

const session = jsonFields<SessionSpec>('j.spec');

test('converts a path of fields to SQL', () => {
  expect(session.json('policy')).toBe(`(j.spec->'policy')`);
  expect(session.text('rollouts')).toBe(`(j.spec->>'rollouts')`);
  expect(session.json('search', 'evaluationSeeds')).toBe(`(j.spec->'search'->'evaluationSeeds')`);
  expect(session.text('budget', 'maxCostUsd')).toBe(`(j.spec->'budget'->>'maxCostUsd')`);
  expect(jsonFields<JobSpec>('spec').without(['seeds'], ['initialGraph'], ['search', 'trainSeeds'])).toBe(
    `((spec - array['seeds','initialGraph']::text[]) #- '{search,trainSeeds}')`,
  );
  expect(jsonFields<GraphSpec>('spec').without(['verifier', 'fields'])).toBe(
    `((spec - array[]::text[]) #- '{verifier,fields}')`,
  );
  expect(jsonFields<JobSpec>('spec').typesOnly('x', ['verifier'], ['rows', 'scorer'])).toBe(
    `jsonb_set(jsonb_set(x, '{verifier}', jsonb_build_object('type', spec #> '{verifier,type}'), false), '{rows,scorer}', jsonb_build_object('type', spec #> '{rows,scorer,type}'), false)`,
  );
  expect(jsonRecord<SessionSpec>()('j.spec', 's', { budget: 'jsonb', rolloutTimeoutS: 'float8' })).toEqual({
    from: `jsonb_to_record(j.spec) as s("budget" jsonb, "rolloutTimeoutS" float8)`,
    columns: { budget: 's."budget"', rolloutTimeoutS: 's."rolloutTimeoutS"' },
  });
});

test('an unknown field fails the type check', () => {
  const unknown = [
    // @ts-expect-error -- no field of a session
    () => session.json('seeds'),
    // @ts-expect-error -- no field of a budget
    () => session.text('budget', 'maxEuro'),
    // @ts-expect-error -- no field of an array
    () => session.json('initialPrompt', 'length'),
    // @ts-expect-error -- no field of a session
    () => jsonRecord<SessionSpec>()('j.spec', 's', { seeds: 'jsonb' }),
  ];
  expect(unknown).toHaveLength(4);
});
