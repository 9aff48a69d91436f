import { expect, test } from '@jest/globals';
import { createDeploymentSchema } from '../../../src/kinds/deployment/contract/deployment.js';
import {
  deployRequest,
  emptyDeploy,
  missingOf,
  nameOf,
  type DeployDraft,
} from '../../../dashboard/src/pages/deployments/deploy/draft.js';

const plain: DeployDraft = { ...emptyDeploy, name: ' routing ' };
const onRows: DeployDraft = { ...plain, demand: 'min_improvement', datasetId: 'ds_1', input: 'text', seeds: '1, 5 9' };
const inContainer: DeployDraft = {
  ...plain,
  demand: 'min_reward',
  least: '0.5',
  scoredBy: 'container',
  containerUrl: 'http://127.0.0.1:1/',
  seeds: '0-9',
};

const graphId = `grf_${'0'.repeat(32)}`;
const limit = { min_improvement: 0, seeds: [1, 5, 9] };

test.each<[string, DeployDraft, object | undefined]>([
  ['no gate', plain, undefined],
  ['rows', onRows, { ...limit, dataset: { dataset_id: 'ds_1', input: 'text' }, scorer: 'exact' }],
  [
    'rows, scored as in the run',
    { ...onRows, sessionScorer: 'rubric', scorer: { type: '', values: {} } },
    { ...limit, dataset: { dataset_id: 'ds_1', input: 'text' } },
  ],
  ['a container', inContainer, { min_reward: 0.5, container_url: 'http://127.0.0.1:1/', seeds: '0-9' }],
])('the request with %s is that of the API', (_, draft, gate) => {
  const request = deployRequest(draft, 'ses_1', 'cand_1');
  expect(missingOf(draft)).toEqual([]);
  expect(request).toEqual({ name: 'routing', source: { session_id: 'ses_1', candidate_id: 'cand_1' }, gate });
  expect(createDeploymentSchema.safeParse(request).error?.issues ?? []).toEqual([]);
});

test('a graph job is its own kind of source', () => {
  expect(deployRequest(plain, graphId, null)).toEqual({ name: 'routing', source: { graph_job_id: graphId } });
});

test('each missing part is named', () => {
  expect(missingOf(emptyDeploy)).toHaveLength(1);
  expect(missingOf({ ...onRows, least: '', datasetId: '' })).toHaveLength(2);
  expect(missingOf({ ...onRows, scorer: { type: 'rubric', values: {} } })).toHaveLength(1);
  expect(missingOf({ ...inContainer, least: 'x', containerUrl: '', seeds: '' })).toHaveLength(3);
});

test('a name of a run becomes a name of a deployment', () => {
  expect(nameOf('Support routing (2)')).toBe('support-routing-2');
  expect(nameOf('— v1')).toBe('v1');
});
