import { describe, expect, test } from '@jest/globals';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { graphToJson } from '../../../src/core/graphs/json.js';
import { singleStepGraph } from '../../../src/core/graphs/single-step.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { jobKinds, kindOf } from '../../../src/core/jobs/kinds.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  evaluationRequest,
  graphRequest,
  httpOfFile,
  sessionRequest,
} from '../../platform/http/support.js';

const http = httpOfFile();
const pathOf = (id: string) => `${jobKinds[kindOf(id)!].path}/${id}`;
const requestOf = (id: string, query = '') => http.call('GET', `${pathOf(id)}/request${query}`);
const clone = (id: string, patch: object, query = '') => http.call('POST', `${pathOf(id)}/clone${query}`, patch);

const messages = [{ role: 'system' as const, content: 'Answer in one word.' }];
const graph = graphToJson(singleStepGraph(messages, ['question']));

async function addFirst(jobId: string, content: object): Promise<string> {
  await http.db.org('default', (tx) =>
    addCandidate(tx, { orgId: 'default', jobId }, {
      ...{ leverVersion: 0, generation: 0, parents: [], detail: {}, messages },
      ...content,
    } as Parameters<typeof addCandidate>[2]),
  );
  return candidateId(jobId, 0);
}

describe('the request of a job', () => {
  test.each([
    ['a session', createSession, '/api/v1/online/sessions', { policy_optimization: sessionRequest }],
    ['an evaluation', createEvaluation, '/api/v1/offline/jobs', evaluationRequest],
    ['a graph job', createGraphJob, '/api/graphgen/jobs', graphRequest],
  ])('of %s can be sent again', async (_, create, url, sent) => {
    const id = await create(http);
    await http.call('PATCH', pathOf(id), { name: 'first', tags: ['a'] });
    const { status, body } = await requestOf(id);
    expect([status, body.job_id, body.omitted]).toEqual([200, id, []]);
    expect(body.request).toMatchObject({ ...sent, name: 'first', tags: ['a'] });
    const again = await http.call('POST', url, body.request);
    expect(again.status).toBe(201);
    const { body: second } = await requestOf(again.body.job_id);
    expect(second.request).toEqual(body.request);
  });

  test('names secrets, which it does not show', async () => {
    const id = await createSession(http, { container_api_key: 'top-secret' });
    await http.db.org('default', (tx) =>
      tx.query(`insert into webhooks (job_id, org_id, url) values ($1, 'default', 'https://h/top-secret')`, [id]),
    );
    const { body, raw } = await requestOf(id);
    expect(body.omitted).toEqual(['/policy_optimization/container_api_key', '/webhook_url']);
    expect(raw.toString()).not.toContain('top-secret');
  });

  test('names the data set, and the prompt that an evaluation runs', async () => {
    const rows = Array.from({ length: 6 }, (_, row) => ({ input: `q${row}`, expected: 'x' }));
    const { body: dataset } = await http.call('POST', '/api/v1/datasets?name=Six', rows);
    const request = { policy: evaluationRequest.policy, scorer: 'exact', candidate: { messages } };
    const id = (
      await http.call('POST', '/api/v1/offline/jobs', { ...request, dataset: { dataset_id: dataset.dataset_id } })
    ).body.job_id;
    const { body } = await requestOf(id);
    expect(body.dataset).toEqual({ dataset_id: dataset.dataset_id, name: 'Six', num_rows: 6 });
    expect(body.prompt.at(0)).toEqual(messages[0]);
  });

  test('is null without one', async () => {
    const id = await createEvaluation(http);
    await http.db.org('default', (tx) => tx.query('update jobs set request = null where id = $1', [id]));
    expect((await requestOf(id)).body.request).toBeNull();
  });
});

describe('a branch', () => {
  test('of a session begins with the candidate, and both pages say so', async () => {
    const id = await createSession(http);
    const candidate = await addFirst(id, {});
    const query = `?candidate_id=${candidate}`;
    const { body: shown } = await requestOf(id, query);
    expect(shown.request.policy_optimization.initial_prompt).toEqual({ messages });
    const made = await clone(id, { policy_optimization: { budget: { max_rollouts: 77 } } }, query);
    expect(made.status).toBe(201);
    const branch = made.body.session_id;
    const origin = { job_id: id, candidate_id: candidate };
    expect((await http.call('GET', pathOf(branch))).body.branched_from).toEqual(origin);
    const { body } = await requestOf(branch);
    expect(body.branched_from).toEqual(origin);
    expect(body.request.policy_optimization).toMatchObject({
      initial_prompt: { messages },
      budget: { max_rollouts: 77 },
    });
    expect((await requestOf(id)).body.branches).toMatchObject([{ job_id: branch, candidate_id: candidate }]);
    const { body: plain } = await clone(id, {});
    expect((await http.call('GET', pathOf(plain.session_id))).body.branched_from).toEqual({
      job_id: id,
      candidate_id: null,
    });
  });

  test('says that demonstrations are left out', async () => {
    const id = await createSession(http);
    const demo = { seed: 1, input: 'q', output: 'a', reward: 1 };
    const candidate = await addFirst(id, { demos: [demo] });
    await http.db.org('default', (tx) =>
      tx.query(`update candidates set demos = $2 where id = $1`, [candidate, JSON.stringify([demo])]),
    );
    const { body } = await clone(id, {}, `?candidate_id=${candidate}&dry_run=true`);
    expect(body.warnings.join()).toContain('1 demonstration');
  });

  test('of a graph job begins with the graph', async () => {
    const id = await createGraphJob(http);
    const candidate = await addFirst(id, { graph });
    const made = await clone(id, {}, `?candidate_id=${candidate}`);
    expect(made.status).toBe(201);
    expect((await requestOf(made.body.job_id)).body.request.initial_graph).toEqual(graph);
  });

  test('of an unknown candidate is refused; an evaluation has none', async () => {
    const session = await createSession(http);
    const other = await addFirst(await createSession(http), {});
    for (const job of [session, await createGraphJob(http)]) {
      const { status, body } = await clone(job, {}, `?candidate_id=${other}`);
      expect([status, body.code]).toEqual([422, 'candidate_not_found']);
    }
    const evaluation = await createEvaluation(http);
    expect((await clone(evaluation, {}, `?candidate_id=${other}`)).status).toBe(422);
    expect((await requestOf(evaluation, `?candidate_id=${other}`)).status).toBe(422);
  });
});
