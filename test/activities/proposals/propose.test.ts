import { describe, expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { readMaterial } from '../../../activities/proposals/material.js';
import { CandidatePool } from '../../../activities/proposals/pool.js';
import { propose as makeProposals } from '../../../activities/proposals/propose.js';
import { createMetrics } from '../../../src/service/metrics.js';
import { createProviders } from '../../../src/models/client/providers.js';
import type { ProposalRequest } from '../../../src/core/search/protocol.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import type { SearchSpec } from '../../../src/core/jobs/spec.js';
import { addCandidate, readPool } from '../../../src/candidates/store/candidates.js';
import type { Tx } from '../../../src/platform/db/db.js';
import { readSpec } from '../../../src/jobs/store/spec.js';
import { readProposerAttempts } from '../../../src/candidates/store/proposals.js';
import { seedCandidates, seedRollouts } from '../../platform/http/seed.js';
import { createSession, httpOfFile } from '../../platform/http/support.js';
import { startFakeModel } from '../../support/fakes/model.js';

const http = httpOfFile();

test('records the verdict on each proposer answer with that answer', async () => {
  const model = await startFakeModel(({ n }) => ({ text: n === 1 ? 'No.' : '```\nAnswer well.\n```' }));
  try {
    const { jobId, propose } = await jobWith(model.url);
    const components = { selection: 'all', turn: 1 } as const;
    const request: ProposalRequest = {
      kind: 'rewrite',
      candidate: 1,
      parent: 0,
      generation: 1,
      ordinals: [0],
      components,
    };
    for (const run of [1, 2]) {
      const answers = await propose(request);
      expect([run, answers]).toMatchObject([run, [{ candidate: 1, outcome: 'proposed', shown: [0] }]]);
    }
    expect(model.requests).toHaveLength(2);
    const attempts = await http.db.org('default', (tx) => readProposerAttempts(tx, jobId, 1, 3));
    expect(attempts.map(({ verdict }) => verdict)).toEqual([
      { component: 'system', attempt: 0, accepted: false, reason: expect.stringContaining('fence') },
      { component: 'system', attempt: 1, accepted: true, reason: null },
    ]);
    const { body } = await http.call('GET', `/api/v1/online/sessions/${jobId}/candidates/${candidateId(jobId, 1)}`);
    expect(body.reflection).toMatchObject({ components: ['system'], attempts: [{ attempt: 0 }, { accepted: true }] });
  } finally {
    await model.close();
  }
});

test('asks again for a text that is known, and shows what was tried on the parent', async () => {
  const model = await startFakeModel(({ n }) => ({
    text: `\`\`\`\n${n <= 2 ? 'Answer  well.' : 'Answer best.'}\n\`\`\``,
  }));
  try {
    const { propose } = await jobWith(model.url);
    const components = { selection: 'all', turn: 1 } as const;
    const request: ProposalRequest = {
      kind: 'rewrite',
      candidate: 1,
      parent: 0,
      generation: 1,
      ordinals: [0],
      components,
    };
    expect(await propose(request)).toMatchObject([{ outcome: 'proposed' }]);
    const tried = [{ candidate: 1, status: 'rejected', gain: -0.5, seeds: 2 }] as const;
    const next = { ...request, candidate: 2, generation: 2, tried: [...tried] };
    expect(await propose(next)).toMatchObject([{ candidate: 2, outcome: 'proposed' }]);
    const asked = model.requests.map(({ body }) => body['messages'] as { content: string }[]);
    expect(asked.map((messages) => messages.length)).toEqual([1, 1, 3]);
    expect(asked[1]![0]!.content).toContain('-0.50 mean reward on 2 inputs):\n> Answer  well.');
  } finally {
    await model.close();
  }
});

test('asks again for a text that is longer than max_prompt_tokens, and says the limit', async () => {
  const long = 'word '.repeat(30);
  const model = await startFakeModel(({ n }) => ({ text: `\`\`\`\n${n === 1 ? long : 'Answer well.'}\n\`\`\`` }));
  try {
    const { propose } = await jobWith(model.url, { max_prompt_tokens: 20 });
    const components = { selection: 'all', turn: 1 } as const;
    const request = { kind: 'rewrite', candidate: 1, parent: 0, generation: 1, ordinals: [0], components } as const;
    expect(await propose({ ...request, ordinals: [0] })).toMatchObject([{ outcome: 'proposed' }]);
    const asked = model.requests.map(({ body }) => (body['messages'] as { content: string }[]).at(-1)!.content);
    expect(asked[0]).toContain('fewer than 10 words');
    expect(asked[1]).toContain('at most 20 fit into max_prompt_tokens');
  } finally {
    await model.close();
  }
});

describe('a stalled search', () => {
  const stalled = (candidate: number, approach: 'restart' | 'compress'): ProposalRequest => ({
    kind: 'rewrite',
    candidate,
    parent: 0,
    generation: candidate,
    approach,
    ordinals: approach === 'compress' ? [] : [0],
    components: { selection: 'feedback', turn: candidate },
  });

  test('asks at temperature 1, and without once the model has refused it', async () => {
    const model = await startFakeModel(({ n, body }) =>
      'temperature' in body ? { status: 400 } : { text: `\`\`\`\nAnswer ${n}.\n\`\`\`` },
    );
    try {
      const { jobId, propose } = await jobWith(model.url);
      const requests = [stalled(1, 'restart'), stalled(2, 'restart')];
      for (const request of requests) {
        const answers = await propose(request);
        expect(answers).toMatchObject([{ outcome: 'proposed', shown: [0] }]);
      }
      expect(model.requests.map(({ body }) => body['temperature'])).toEqual([1, undefined, undefined]);
      const { body } = await http.call('GET', `/api/v1/online/sessions/${jobId}/candidates/${candidateId(jobId, 2)}`);
      expect(body.reflection).toMatchObject({ approach: 'restart' });
    } finally {
      await model.close();
    }
  });

  test('takes a compression that is not shorter for a duplicate, after three answers', async () => {
    const model = await startFakeModel(({ n }) => ({ text: `\`\`\`\n${n <= 3 ? 'Answer it.' : 'Go.'}\n\`\`\`` }));
    try {
      const { propose } = await jobWith(model.url);
      for (const [candidate, outcome] of [
        [1, 'duplicate'],
        [2, 'proposed'],
      ] as const) {
        expect(await propose(stalled(candidate, 'compress'))).toMatchObject([{ candidate, outcome }]);
      }
      expect(model.requests).toHaveLength(4);
    } finally {
      await model.close();
    }
  });
});

/** A session with a baseline that failed on seed 0, and its proposer at `url`. */
async function jobWith(url: string, fields: Record<string, unknown> = {}) {
  const jobId = await createSession(http, fields);
  await seedCandidates(http, jobId, [{ status: 'evaluated', reward: 0, generation: 0, text: 'Answer.' }]);
  await seedRollouts(http, jobId, [{ candidate: 0, seed: 0, status: 'succeeded', reward: 0, feedback: 'Better.' }]);
  const providers = createProviders({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'sk-secret' });
  const job = { orgId: 'default', jobId };
  const inOrg = <T>(work: (tx: Tx) => Promise<T>) => http.db.org('default', work);
  const propose = async (request: ProposalRequest) => {
    const material = await inOrg(async (tx) => {
      const pool = new CandidatePool(await readPool(tx, jobId));
      return readMaterial(tx, job, await readSpec<SearchSpec>(tx, jobId), pool, [request]);
    });
    const { signal } = new AbortController();
    const batch = { requests: [request], material, trace: null, signal, mayAsk: () => true };
    const deps = { db: http.db, providers, metrics: createMetrics() } as unknown as ActivityDeps;
    const { answers, candidates } = (await makeProposals(deps, job, batch))!;
    await inOrg((tx) => Promise.all(candidates.map((candidate) => addCandidate(tx, job, candidate))));
    return answers;
  };
  return { jobId, propose };
}
