import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { createDeploymentSchema } from '../../src/kinds/deployment/contract/deployment.js';
import { flatEvaluationSchema, wrappedEvaluationSchema } from '../../src/kinds/evaluation/contract/evaluation.js';
import { graphSchema } from '../../src/kinds/graph/contract/graph.js';
import { createGraphJobSchema } from '../../src/kinds/graph/contract/job.js';
import { withoutNulls } from '../../src/contracts/nulls.js';
import { createSessionSchema } from '../../src/kinds/session/contract/create.js';
import { isObject } from '../../src/util/json.js';
import { pureRuns } from '../support/runs.js';

const policy = { model: 'm', provider: 'p' };
const container = { container_url: 'http://127.0.0.1:1', env_name: 'e' };
const messages = [{ role: 'system', content: 'Answer {{input}}.' }];
const rows = { dataset: { rows: [{ input: null, expected: 'a' }] }, policy };
const scorer = { type: 'weighted', parts: [{ scorer: 'exact' }, { scorer: { type: 'json', schema: {} } }] };
const evaluation = { ...container, seeds: [1], policy };
const candidate = { messages };
const session = { algorithm: 'gepa', gepa: { population_size: 1, generations: 1, evaluation: { seeds: [1] } } };
const source = { messages, policy };
const gate = { container_url: 'http://127.0.0.1:1', seeds: '0-9', min_reward: 1 };
const criteria = [{ name: 'n' }];
const tasks = [
  { id: 'a', input: { q: null }, rubric: { criteria } },
  { id: 'b', input: { q: 1 } },
];
const dataset = {
  tasks,
  gold_outputs: [{ task_id: 'a', output: null }],
  default_rubric: 'r',
  verifier_config: { mode: 'rubric', model: 'm' },
};
const step = (more: object) => ({ id: 's', inputs: { q: 'input.q' }, messages, output: { field: 'text' }, ...more });

const bodies: [string, z.ZodType, object][] = [
  ['a session', createSessionSchema, { policy_optimization: { ...session, ...container, policy, budget: {} } }],
  [
    'a session on rows',
    createSessionSchema,
    {
      policy_optimization: {
        ...rows,
        scorer,
        initial_prompt: { messages },
        algorithm: 'mipro',
        mipro: { num_candidates: 1, evaluation: {} },
        proposer: policy,
      },
    },
  ],
  ['an evaluation', flatEvaluationSchema, { ...evaluation, app_id: 'a', candidate }],
  ['a wrapped evaluation', wrappedEvaluationSchema, { config: evaluation }],
  ['an evaluation of rows', flatEvaluationSchema, { ...rows, scorer, candidate, app_id: 'a' }],
  [
    'a graph job',
    createGraphJobSchema,
    { dataset, policy_models: ['m'], rollout_budget: 20, proposer: policy, budget: {} },
  ],
  ['a deployment', createDeploymentSchema, { name: 'n', source, gate }],
  [
    'a graph',
    graphSchema,
    {
      inputs: ['q'],
      steps: [step({ type: 'llm' }), { id: 'v', type: 'vote', of: ['s.text'], by: 'majority' }],
      output: 'v',
    },
  ],
];

interface Described {
  $ref?: string;
  properties?: Record<string, Described>;
  required?: string[];
  items?: Described;
  anyOf?: Described[];
  oneOf?: Described[];
  const?: unknown;
}

/** The optional fields that a body leaves out, by their paths, as the OpenAPI document has them. */
function absentFields(schema: z.ZodType, body: unknown): string[][] {
  const root = z.toJSONSchema(schema, { io: 'input' });
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'input', uri: (id) => `${id}Input` });
  const found: string[][] = [];
  const resolved = (described: Described): Described => {
    if (!described.$ref) return described;
    const name = described.$ref.split('/').at(-1)!;
    return (name === '#' ? root : (root.$defs?.[name] ?? schemas[name.replace(/Input$/, '')])) as Described;
  };
  const walk = (reference: Described, value: unknown, path: string[]): void => {
    const described = resolved(reference);
    const forms = (described.anyOf ?? described.oneOf)?.map(resolved);
    // Beside properties they are rules across fields.
    if (forms && !described.properties) {
      const type = isObject(value) ? value['type'] : undefined;
      const matching = forms.filter(({ properties }) => !properties || !type || properties['type']?.const === type);
      return matching.forEach((form) => walk(form, value, path));
    }
    if (Array.isArray(value)) {
      const { items } = described;
      return items && value.forEach((item, index) => walk(items, item, [...path, String(index)]));
    }
    if (!isObject(value)) return;
    for (const [name, field] of Object.entries(described.properties ?? {})) {
      const isOptional = !(described.required ?? []).includes(name);
      if (Object.hasOwn(value, name)) walk(field, value[name], [...path, name]);
      else if (isOptional) found.push([...path, name]);
    }
  };
  walk(root as Described, body, []);
  return found;
}

/** A copy of a body with nulls at some paths. */
function withNulls(body: object, paths: readonly string[][]): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  for (const path of paths) {
    const holder = path.slice(0, -1).reduce((value, name) => value[name] as Record<string, unknown>, copy);
    holder[path.at(-1)!] = null;
  }
  return copy;
}

const read = (schema: z.ZodType, body: unknown) => schema.safeParse(withoutNulls(schema, body));
/** Fields that keep a null mean what they mean without one. */
const withoutKept = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_name, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).filter(([, item]) => item !== null)) : inner,
  );

test.each(bodies)('null in each optional field of %s reads as no field', (_name, schema, body) => {
  const plain = read(schema, body);
  expect(plain.error?.issues ?? []).toEqual([]);
  const absent = absentFields(schema, body);
  expect(absent.length).toBeGreaterThan(3);
  fc.assert(
    fc.property(fc.subarray(absent), (paths) => {
      const { data, error } = read(schema, withNulls(body, paths));
      expect(error?.issues ?? []).toEqual([]);
      expect(withoutKept(data)).toEqual(withoutKept(plain.data));
    }),
    { numRuns: pureRuns(30, 1_000), examples: [[absent]] },
  );
});

test('required fields, values of maps, and values of any type keep their null', () => {
  const given = { dataset: { ...dataset, metadata: { a: null } }, policy_models: null, rollout_budget: null };
  const kept = withoutNulls(createGraphJobSchema, given);
  expect(kept).toEqual({ dataset: given.dataset, rollout_budget: null });
});

test('a body without such nulls stays the same object', () => {
  const body = { dataset, policy_model: 'm', rollout_budget: 20 };
  expect(withoutNulls(createGraphJobSchema, body)).toBe(body);
});
