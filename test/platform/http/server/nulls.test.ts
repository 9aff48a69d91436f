import { expect, test } from '@jest/globals';
import { evaluationRequest, httpOfFile, sessionRequest } from '../support.js';

const http = httpOfFile();
const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, input: { q: `${i}` }, rubric: null }));
const dataset = {
  tasks,
  gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
  default_rubric: null,
  verifier_config: { mode: 'exact', fields: null },
};
const policy = { model: 'm', provider: 'local' };
const source = { messages: [{ role: 'system', content: 'x' }], policy, session_id: null };

test.each([
  ['/api/v1/online/sessions', { policy_optimization: { ...sessionRequest, proposer: null, budget: null }, tags: null }],
  ['/api/v1/online/sessions', { policy_optimization: null, config: { policy_optimization: sessionRequest } }],
  ['/api/v1/offline/jobs', { ...evaluationRequest, candidate: null, max_concurrent: null }],
  ['/api/graphgen/jobs', { dataset, policy_model: 'm', policy_models: null, rollout_budget: 60, initial_graph: null }],
  ['/api/harbor/deployments', { name: 'n', source, gate: null, metadata: null }],
])('a create at %s takes null for optional fields', async (url, body) => {
  const { status, body: answer } = await http.call('POST', url, body);
  expect([status, answer.errors]).toEqual([201, undefined]);
});
