import { afterEach, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import type {
  graphCandidateSchema,
  graphParetoSchema,
  graphSeedEvalSchema,
} from '../../../src/kinds/graph/contract/lineage.js';
import type { candidateItemSchema } from '../../../src/candidates/contract/lineage.js';
import { applyEdits } from '../../../src/core/graphs/edits/edits.js';
import { driveGraph } from '../../../src/core/graphs/run/drive.js';
import { editFromJson, graphFromJson, graphToJson } from '../../../src/core/graphs/json.js';
import { graphText } from '../../../src/core/graphs/text.js';
import { ended, graphs, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { startGraphWorld } from '../../support/worlds/graph.js';
import { serviceOfFile } from '../../support/service-of-file.js';

const on = serviceOfFile(() => startGraphWorld());
afterEach(() => on.world.reset());

type Item = z.output<typeof candidateItemSchema>;
type Detail = z.output<typeof graphCandidateSchema>;
type Row = z.output<typeof graphSeedEvalSchema>;
type Pareto = z.output<typeof graphParetoSchema>;
interface Page<Of> {
  data: Of[];
  next_cursor: string | null;
  has_more: boolean;
}
interface Answered {
  text: string;
  prompt: number;
  completion: number;
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: number[]) => sum(values) / values.length;
const keyOf = (model: string, messages: readonly { role: string; content: string }[]) =>
  JSON.stringify([model, messages.map(({ role, content }) => [role, content])]);

/** Answer and usage of every call by its request; equal requests have equal answers. */
function keepLedger(): Map<string, Answered> {
  const ledger = new Map<string, Answered>();
  on.world.model.reply((request) => {
    const { model, messages } = request.body;
    const text = on.world.answer(request).text!;
    const prompt = sum(messages.map(({ content }) => content.length));
    const completion = text.length;
    ledger.set(keyOf(model, messages), { text, prompt, completion });
    return { text, usage: { prompt_tokens: prompt, completion_tokens: completion } };
  });
  return ledger;
}

async function pages<Of>(path: string, limit: number): Promise<Of[]> {
  const all: Of[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = `?limit=${limit}${cursor && `&cursor=${cursor}`}`;
    const page: Page<Of> = await on.service.api.call<Page<Of>>('GET', path + query);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    expect(page.has_more).toBe(page.next_cursor !== null);
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}

/** All readable resources of an ended job. */
async function readAll(id: string) {
  const get = <T>(path: string) => on.service.api.call<T>('GET', pathOf(id) + path);
  const items = await pages<Item>(`${pathOf(id)}/candidates`, 2);
  const details = new Map<string, Detail>();
  const rows = new Map<string, Row[]>();
  for (const { candidate_id: one } of items) {
    details.set(one, await get<Detail>(`/candidates/${one}`));
    rows.set(one, await pages<Row>(`${pathOf(id)}/candidates/${one}/seed-evals`, 3));
  }
  return { items, details, rows, pareto: await get<Pareto>('/pareto') };
}

/** Mean usage of a graph's run on each task, from the ledger, which must have every call. */
async function takenBy({ graph }: Detail, seeds: number[], ledger: Map<string, Answered>, policy: string) {
  const made: Answered[] = [];
  for (const seed of seeds) {
    await driveGraph(graphFromJson(graph), { question: `What is item ${seed}?` }, ({ model, messages }) => {
      const found = ledger.get(keyOf(model ?? policy, messages));
      if (!found) throw new Error(`nobody asked ${JSON.stringify(messages)}`);
      made.push(found);
      return Promise.resolve({ ok: true, text: found.text, finishReason: 'stop' });
    });
  }
  const perRun = (of: (answer: Answered) => number) => sum(made.map(of)) / seeds.length;
  return {
    calls: made.length / seeds.length,
    tokens: perRun(({ prompt, completion }) => prompt + completion),
    // gpt-4o-mini is 0.15 and 0.60 dollars a million tokens.
    usd: perRun(({ prompt, completion }) => prompt * 0.15e-6 + completion * 0.6e-6),
  };
}

/** Compares the front with the ledger's usage of every evaluated candidate. */
async function checkFront(
  read: Awaited<ReturnType<typeof readAll>>,
  ledger: Map<string, Answered>,
  { policy, measure }: { policy: string; measure: 'usd' | 'tokens' },
) {
  const seeds = read.pareto.seeds.map(({ seed }) => seed);
  const weighed: ({ id: string; reward: number } & Awaited<ReturnType<typeof takenBy>>)[] = [];
  for (const { candidate_id: id, status, reward } of read.items) {
    if (status !== 'evaluated') continue;
    const evaluated = read.rows.get(id)!.filter(({ stage }) => stage === 'baseline' || stage === 'evaluation');
    expect(evaluated.map(({ seed }) => seed).sort()).toEqual([...seeds].sort());
    expect(reward).toBeCloseTo(mean(evaluated.map((row) => row.reward!)), 12);
    weighed.push({ id, reward: reward!, ...(await takenBy(read.details.get(id)!, seeds, ledger, policy)) });
  }
  const dominated = (point: (typeof weighed)[number]) =>
    weighed.some(
      (other) =>
        other.reward >= point.reward &&
        other[measure] <= point[measure] &&
        (other.reward > point.reward || other[measure] < point[measure]),
    );
  const front = weighed.filter((point) => !dominated(point)).sort((left, right) => left[measure] - right[measure]);
  expect(read.pareto.cost_front).toEqual(
    front.map(({ id, reward, calls, tokens, usd }) => ({
      candidate_id: id,
      reward,
      cost_usd: measure === 'usd' ? expect.closeTo(usd, 12) : null,
      tokens: expect.closeTo(tokens, 9),
      calls: expect.closeTo(calls, 9),
    })),
  );
  // The front has several candidates.
  expect(weighed.length).toBeGreaterThan(1);
  expect(front.length).toBeGreaterThan(1);
}

const create = (body: object) =>
  on.service.api.call<{ job_id: string; estimate: { rollouts: number; cost_usd: object | null } }>(
    'POST',
    graphs,
    body,
  );

describe('the resources of a graph job', () => {
  test('its graphs, their edits and feedback, and a front with the cost of the model calls', async () => {
    const ledger = keepLedger();
    const model = { policy_model: 'gpt-4o-mini', policy_provider: 'openai' };
    const { job_id: id, estimate } = await create(on.world.job(20, { ...model, rollout_budget: 300 }));
    // The proposer has no known price.
    expect(estimate.cost_usd).toBeNull();
    const seen = await ended<GraphJob>(on.service, id);
    expect(seen).toMatchObject({ status: 'completed', best_reward: 1 });
    expect(estimate.rollouts).toBeGreaterThanOrEqual(seen.progress.rollouts_completed);
    const read = await readAll(id);
    expect(read.items.map(({ decision: _, ...summary }) => summary)).toEqual(seen.candidates);
    expect(read.pareto).toMatchObject({ job_id: id, graph_gen_job_id: id });
    expect(seen.pareto).toEqual(read.pareto.cost_front);
    await checkFront(read, ledger, { policy: 'gpt-4o-mini', measure: 'usd' });

    const made = { edits: 0, prompts: 0 };
    for (const detail of read.details.values()) {
      const { graph, edits, reflection, prompts, segments, parent_ids: parents, is_baseline: isBaseline } = detail;
      expect(detail.graph_txt).toBe(graphText(graphFromJson(graph)));
      for (const { component, text } of prompts) {
        const own = segments.filter((segment) => segment.component === component);
        expect(own.map((segment) => segment.text).join('')).toBe(text);
      }
      expect(detail.decision.message).not.toContain('seed');
      const rows = read.rows.get(detail.candidate_id)!;
      expect(rows).toHaveLength(detail.rollout_count);
      for (const { task_id: task, seed } of rows) expect(task).toBe(`task-${seed}`);
      if (isBaseline || parents.length > 1) {
        expect([edits, reflection]).toEqual([null, null]);
        continue;
      }
      const parent = read.details.get(parents[0]!)!;
      expect(reflection!.attempts.filter(({ accepted }) => accepted)).toHaveLength(1);
      expect(reflection!.attempts.map(({ component }) => component)).toEqual([edits ? null : expect.any(String)]);
      if (edits) {
        made.edits += 1;
        const applied = applyEdits(graphFromJson(parent.graph), edits.map(editFromJson), {
          models: ['gpt-4o-mini'],
          maxAttempts: Infinity,
        });
        expect(applied.ok && graphToJson(applied.graph)).toEqual(graph);
        expect(reflection!.components).toEqual([]);
      } else {
        made.prompts += 1;
        expect(detail.diff.map(({ component }) => component)).toEqual(reflection!.components);
        expect(graph.steps.map((step) => step.id)).toEqual(parent.graph.steps.map((step) => step.id));
      }
    }
    expect(Math.min(made.edits, made.prompts)).toBeGreaterThan(0);

    // Each rule of the winner can be traced to the run whose feedback named it.
    const winner = read.details.get(seen.best_candidate!.candidate_id)!;
    for (let rule = 0; rule < on.world.rules; rule += 1) {
      const segment = winner.segments.find(({ text }) => text.includes(`rule-${rule}.`))!;
      const source = read.details.get(segment.introduced_by)!;
      const lesson = segment.feedback.find(({ feedback }) => feedback.includes(`Expected: rule-${rule}`))!;
      expect(lesson.seed! % on.world.rules).toBe(rule);
      expect(source.reflection!.messages[0]!.content).toContain(`Expected: rule-${rule}`);
      expect(source.prompts.some(({ text }) => text.includes(`rule-${rule}.`))).toBe(true);
    }
  });

  test('without prices the front compares tokens, and the judge’s calls are not counted', async () => {
    const ledger = keepLedger();
    const job = on.world.job(12, { rollout_budget: 150 });
    const { gold_outputs: _, ...dataset } = job['dataset'] as Record<string, unknown>;
    const verifier_config = { mode: 'rubric', model: 'judge' };
    const { job_id: id } = await create({
      ...job,
      dataset: { ...dataset, default_rubric: 'A rule?', verifier_config },
    });
    expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed', best_reward: 1 });
    await checkFront(await readAll(id), ledger, { policy: 'task', measure: 'tokens' });
  });
});
