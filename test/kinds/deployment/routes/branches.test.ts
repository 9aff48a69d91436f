import { beforeAll, describe, expect, test } from '@jest/globals';
import type { LlmStep } from '../../../../src/core/graphs/graph.js';
import { graphToJson } from '../../../../src/core/graphs/json.js';
import type { PromptContent, SnapshotContent } from '../../../../src/kinds/deployment/contract/snapshot.js';
import { setSnapshot } from '../../../../src/kinds/deployment/store/deployments.js';
import { putSnapshot } from '../../../../src/kinds/deployment/store/snapshots.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { seedCandidates } from '../../../platform/http/seed.js';
import { createSession } from '../../../platform/http/support.js';
import { deploymentsOfFile, saying } from './support.js';

// Invariants: a branch has the content of its parent but for the given parts, and says whose it is;
// edited content has no measured reward.

const it = deploymentsOfFile();
const policy = { provider: 'openai', model: 'gpt-4o', temperature: 1 };
const messages = [{ role: 'system', content: 'Edited.' }];
const frozen = async (id: string) => {
  const { snapshot_id, source } = (await it.status(id)).body;
  const { body } = await it.http.call('GET', `${base}/snapshots/${snapshot_id}`);
  return { ...body, source };
};
const made = async (source: object) => {
  const { status, body } = await it.create({ name: 'branch', source });
  expect([status, body.errors]).toEqual([201, undefined]);
  return frozen(body.id as string);
};
const pointersOf = async (source: object) => {
  const { status, body } = await it.create({ name: 'refused', source });
  return [status, body.errors?.map((error: { pointer: string }) => error.pointer)];
};

const parentContent: PromptContent = {
  kind: 'messages',
  messages: [{ role: 'system', content: 'Parent.' }],
  demos: [{ component: null, seed: 1, ordinal: 0, input: 'q', output: 'a' }],
  levers_marked: false,
  policy: { provider: 'openai', model: 'gpt-4o-mini', top_p: 0.5 },
  lever_versions: { system: 3 },
  provenance: { source: 'session', job_id: 'ses_x', candidate_id: 'cand_x', reward: 0.7, verdict: 'better' },
};

const step: LlmStep = {
  id: 'only',
  type: 'llm',
  inputs: { given: 'input.input' },
  output: { field: 'text' },
  messages: [{ role: 'user', content: '{{given}}' }],
};
const graphContent: SnapshotContent = {
  kind: 'graph',
  graph: graphToJson({ inputs: ['input'], steps: [step], output: 'only.text' }),
  graph_txt: '',
  policies: [{ provider: 'openai', model: 'gpt-4o-mini' }],
  lever_versions: {},
  provenance: { ...parentContent.provenance, source: 'graph_job' },
};

async function deployContent(name: string, content: SnapshotContent): Promise<string> {
  const id = await it.deploy(name);
  await it.http.db.org('default', async (tx) => setSnapshot(tx, id, await putSnapshot(tx, 'default', content)));
  return id;
}

describe('a branch', () => {
  let parent: string;
  beforeAll(async () => {
    parent = await deployContent('parent', parentContent);
    await it.deploy('parent', 'newer');
    await it.http.call('PUT', `${base}/parent/labels/staging`, { version: 1 });
  });

  test('of a version, a label, or an id has the same content, and names its parent', async () => {
    for (const ref of [parent, 'parent@1', 'parent@staging']) {
      expect(await made({ deployment: ref })).toMatchObject({
        messages: parentContent.messages,
        demos: parentContent.demos,
        policy: parentContent.policy,
        lever_versions: parentContent.lever_versions,
        provenance: { source: 'deployment', job_id: parent, candidate_id: null, reward: 0.7, verdict: 'better' },
        source: { deployment_id: parent, session_id: null, reward: 0.7 },
      });
    }
    expect(await made({ deployment: 'parent' })).toMatchObject({ messages: [{ content: 'newer' }] });
  });

  test('takes messages and policy in place of its own, and then has no reward', async () => {
    const unmeasured = { source: 'deployment', job_id: parent, reward: null, verdict: null };
    expect(await made({ deployment: 'parent@1', messages })).toMatchObject({
      messages,
      demos: parentContent.demos,
      policy: parentContent.policy,
      lever_versions: {},
      provenance: unmeasured,
    });
    expect(await made({ deployment: 'parent@1', policy })).toMatchObject({
      messages: parentContent.messages,
      policy,
      lever_versions: parentContent.lever_versions,
      provenance: unmeasured,
    });
  });

  test('outlives its parent', async () => {
    const gone = await deployContent('gone', parentContent);
    const { body } = await it.create({ name: 'child', source: { deployment: 'gone' } });
    await it.http.call('DELETE', `${base}/${gone}`);
    expect(await frozen(body.id as string)).toMatchObject({ messages: parentContent.messages });
    expect(await pointersOf({ deployment: 'gone' })).toEqual([422, ['/source/deployment']]);
  });

  test('is refused with the field', async () => {
    it.held = true;
    await it.create({ name: 'building', source: saying('x') });
    it.held = false;
    await deployContent('a-graph', graphContent);
    await deployContent('spans', { ...parentContent, levers_marked: true });
    for (const [source, pointer] of [
      [{ deployment: 'nothing' }, '/source/deployment'],
      [{ deployment: 'parent@9' }, '/source/deployment'],
      [{ deployment: 'building' }, '/source/deployment'],
      [{ deployment: 'parent', session_id: 'ses_1' }, '/source'],
      [{ deployment: 'parent', candidate_id: 'cand_1' }, '/source/candidate_id'],
      [{ deployment: 'parent', policy: { provider: 'none', model: 'm' } }, '/source/policy/provider'],
      [{ deployment: 'a-graph', messages }, '/source/messages'],
      [{ deployment: 'a-graph', policy }, '/source/policy'],
      [{ deployment: 'spans', messages: [{ role: 'user', content: 'x' }] }, '/source/messages'],
      [{ graph_job_id: 'grf_1', messages }, '/source/messages'],
    ] as const)
      expect([source, ...(await pointersOf(source))]).toEqual([source, 422, [pointer]]);
    expect(await made({ deployment: 'a-graph' })).toMatchObject({
      kind: 'graph',
      provenance: { source: 'deployment' },
    });
    expect(await made({ deployment: 'spans', messages })).toMatchObject({ messages, levers_marked: true });
    for (const name of ['a-graph', 'spans']) {
      const { body } = await it.http.call('GET', `${base}/${name}/prompt`);
      expect([name, body.status, body.code]).toEqual([name, 409, 'no_prompt']);
    }
  });
});

test('a candidate takes other messages and another policy, and then has no reward', async () => {
  const session_id = await createSession(it.http);
  await seedCandidates(it.http, session_id, [{ status: 'evaluated', reward: 0.2, generation: 0, text: 'its own' }]);
  const candidate_id = `cand_${session_id.slice(4)}_0`;
  const provenance = { source: 'session', job_id: session_id, candidate_id };
  expect(await made({ session_id, candidate_id, messages, policy })).toMatchObject({
    messages,
    policy,
    provenance: { ...provenance, reward: null },
  });
  expect(await made({ session_id, candidate_id, policy })).toMatchObject({
    messages: [{ content: 'its own' }],
    policy,
    provenance: { ...provenance, reward: null },
  });
});
