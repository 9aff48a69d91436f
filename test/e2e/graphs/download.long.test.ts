import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGraphJob, command, ended, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { startGraphWorld } from '../../support/worlds/graph.js';
import { withPython } from '../../support/python.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { unzip } from '../../support/unzip.js';
import { until } from '../../support/until.js';

const { python, ...able } = withPython();
const on = serviceOfFile(() => startGraphWorld());

const download = (id: string, base = on.service.url, more: { headers?: object; method?: string } = {}) =>
  fetch(`${base}${pathOf(id)}/download`, {
    ...more,
    headers: { authorization: `Bearer ${on.service.apiKey}`, ...more.headers },
  });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The README's commands for use from Python. */
const allOf = `from run import load, openai_completer, run_graph, to_json
graph, complete = load("graph.json"), openai_completer()
print(to_json([run_graph(graph, given, complete) for given in load("inputs.json")]))`;

interface Results {
  tasks: { task_id: string; seed: number; part: string; baseline_reward: number; winner_reward: number }[];
  [field: string]: unknown;
}

describe('the download of a completed graph job', () => {
  let id: string;
  let job: GraphJob;
  let zip: Buffer;
  let etag: string;
  const files = new Map<string, string>();
  const jsonIn = <Content>(name: string) => JSON.parse(files.get(name)!) as Content;

  test('is a ZIP of all files in its manifest', async () => {
    id = await createGraphJob(on.service, on.world.job(40, { rollout_budget: 400, rng_seed: 5 }));
    job = await ended<GraphJob>(on.service, id);
    expect(job).toMatchObject({ status: 'completed', best_reward: 1, comparison: { basis: 'heldout' } });
    const answer = await download(id);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${id}-graph.zip"`);
    etag = answer.headers.get('etag')!;
    zip = await bytesOf(answer);
    for (const { name, text } of await unzip(zip)) files.set(name, text);
    const manifest = jsonIn<{ files: { name: string; sha256: string }[] }>('manifest.json');
    expect(manifest).toMatchObject({
      job_id: id,
      candidate_id: job.best_candidate!.candidate_id,
      versions: { algorithm: 'gepa' },
      rng_seed: 5,
      provider: 'fake',
      models: ['task'],
    });
    expect([...manifest.files.map(({ name }) => name), 'manifest.json']).toEqual([...files.keys()]);
    for (const { name, sha256 } of manifest.files)
      expect([name, createHash('sha256').update(files.get(name)!).digest('hex')]).toEqual([name, sha256]);
  });

  test('is the same from every API, and is not sent again to a client that has it', async () => {
    const other = await on.service.another({ serve: true, work: false });
    const answer = await download(id, other.url!);
    expect(answer.headers.get('etag')).toBe(etag);
    expect((await bytesOf(answer)).equals(zip)).toBe(true);
    const known = await download(id, other.url!, { headers: { 'if-none-match': etag } });
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, '']);
    const head = await download(id, other.url!, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), head.headers.get('content-type')]).toEqual([
      200,
      etag,
      'application/zip',
    ]);
  });

  test('reports the search, task by task, and its cost', () => {
    const results = jsonIn<Results>('results.json');
    const { verdict, comparison, history, stopped_by, best_reward, usage } = job;
    expect(results).toMatchObject({ verdict, comparison, history, stopped_by, best_reward });
    expect(results).toMatchObject({ job_id: id, candidate_id: job.best_candidate!.candidate_id });
    const part = (wanted: string) => results.tasks.filter((task) => task.part === wanted);
    const rewards = (wanted: string, of: 'baseline_reward' | 'winner_reward') =>
      meanOf(part(wanted).map((task) => task[of]));
    expect(part('heldout')).toHaveLength(comparison!.seeds);
    expect(rewards('heldout', 'baseline_reward')).toBeCloseTo(comparison!.baseline_reward, 12);
    expect(rewards('heldout', 'winner_reward')).toBeCloseTo(comparison!.winner_reward, 12);
    expect(rewards('evaluation', 'baseline_reward')).toBeCloseTo(history[0]!.best_reward, 12);
    expect(rewards('evaluation', 'winner_reward')).toBeCloseTo(job.best_reward!, 12);
    for (const { task_id: taskId, seed } of results.tasks) expect(taskId).toBe(`task-${seed}`);
    const { prompt_tokens, completion_tokens, total_cost_usd } = usage;
    expect(results['cost']).toMatchObject({ prompt_tokens, completion_tokens, total_usd: total_cost_usd });
    const calls = on.world.model.requests;
    const writer = calls.filter(({ body }) => body.model === 'writer').length;
    expect(results['cost']).toMatchObject({
      calls: calls.length,
      by_purpose: { rollout: { calls: calls.length - writer }, proposer: { calls: writer } },
    });
    expect(job.candidates.length).toBeGreaterThan(2);
  });

  test('has every candidate with its graph, its decision, and the cost of a run', () => {
    const lines = files.get('candidates.jsonl')!.trimEnd().split('\n');
    const tried = lines.map((line) => JSON.parse(line) as Record<string, unknown> & { graph: { steps: unknown[] } });
    expect(tried).toMatchObject(job.candidates.map(({ avg_reward: _, ...candidate }) => candidate));
    for (const [at, { avg_reward }] of job.candidates.entries()) {
      if (avg_reward === null) expect(tried[at]!['avg_reward']).toBeNull();
      else expect(tried[at]!['avg_reward']).toBeCloseTo(avg_reward, 12);
    }
    for (const candidate of tried) {
      expect(candidate['decision']).toMatchObject({ outcome: expect.any(String), message: expect.any(String) });
      // Each step of this world makes one model call, and each run of a graph runs all of its
      // steps.
      if (Number(candidate['rollout_count']) > 0)
        expect(candidate['cost_per_task']).toMatchObject({
          calls: candidate.graph.steps.length,
          prompt_tokens: expect.any(Number),
        });
      else expect(candidate['cost_per_task']).toBeNull();
    }
    const winner = tried.find((candidate) => candidate['candidate_id'] === job.best_candidate!.candidate_id)!;
    expect(winner.graph).toEqual(jsonIn('graph.json'));
  });

  able.test(
    'has a program that gives on held-out tasks what the service’s own runs gave',
    async () => {
      const rollouts = await on.service.query<{ input: unknown; output: unknown }>(
        `select t.input, r.details->'output' as output
         from rollouts r join graph_tasks t on t.job_id = r.job_id and t.task_index = r.seed
        where r.job_id = $1 and r.stage = 'heldout' and r.candidate_id = $2 order by r.ordinal`,
        [id, job.best_candidate!.candidate_id],
      );
      expect(rollouts).toHaveLength(job.comparison!.seeds);
      const folder = mkdtempSync(join(tmpdir(), 'ratchet-download-'));
      try {
        for (const [name, text] of files) writeFileSync(join(folder, name), text);
        const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: on.world.model.url, PYTHONDONTWRITEBYTECODE: '1' };
        const run = (...args: string[]) => promisify(execFile)(python, args, { cwd: folder, env });
        const inputs = rollouts.map(({ input }) => input);
        writeFileSync(join(folder, 'inputs.json'), JSON.stringify(inputs));
        writeFileSync(join(folder, 'input.json'), JSON.stringify(inputs[0]));
        // One process for all: starting Python each time would dominate the test.
        const { stdout } = await run('-c', allOf);
        expect(JSON.parse(stdout)).toEqual(rollouts.map(({ output }) => output));
        expect(JSON.parse((await run('run.py', 'input.json')).stdout)).toEqual(rollouts[0]!.output);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    120_000,
  );
});

describe('the download of a graph job that is not completed', () => {
  const refused = async (id: string) => {
    const answer = await download(id);
    return [answer.status, await answer.json()];
  };
  const problem = (status: string, detail: string) => [
    409,
    expect.objectContaining({
      code: 'invalid_state',
      current_status: status,
      detail: expect.stringContaining(detail) as unknown,
    }),
  ];

  test('is refused with the next step in the message', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    on.world.model.reply(async (request) => {
      if (request.body.model === 'writer') await released;
      return on.world.answer(request);
    });
    const id = await createGraphJob(on.service, on.world.job(20, { auto_start: false }));
    expect(await refused(id)).toEqual(problem('pending', `POST ${pathOf(id)}/start`));
    await command(on.service, id, 'start');
    expect(await refused(id)).toEqual(problem('running', 'once it is completed'));
    await until('the baseline is evaluated', async () => {
      const [row] = await on.service.query<{ best: string | null }>(
        `select projection->>'bestCandidateId' as best from jobs where id = $1`,
        [id],
      );
      return row!.best !== null;
    });
    await command(on.service, id, 'pause');
    expect(await refused(id)).toEqual(problem('paused', 'resume it'));
    await command(on.service, id, 'cancel');
    release();
    expect(await refused(id)).toEqual(problem('cancelled', `${pathOf(id)}/graph.txt`));
  });

  test('is 404 for an unknown job', async () => {
    const [status] = await refused(`grf_${'0'.repeat(32)}`);
    expect(status).toBe(404);
  });
});
