import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { proposeActivity } from '../../../activities/proposals/propose.js';
import { createProviders } from '../../../src/clients/models/providers.js';
import type { ProposalRequest } from '../../../src/core/search/protocol.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { readProposerAttempts } from '../../../src/storage/candidates/proposals.js';
import { seedCandidates, seedRollouts } from '../../http/seed.js';
import { createSession, httpOfFile } from '../../http/support.js';
import { startFakeModel } from '../../support/fakes/model.js';

const http = httpOfFile();

test('records the verdict on each proposer answer with that answer', async () => {
  const model = await startFakeModel(({ n }) => ({ text: n === 1 ? 'No.' : '```\nAnswer well.\n```' }));
  try {
    const jobId = await createSession(http);
    await seedCandidates(http, jobId, [{ status: 'evaluated', reward: 0, generation: 0, text: 'Answer.' }]);
    await seedRollouts(http, jobId, [{ candidate: 0, seed: 0, status: 'succeeded', reward: 0, feedback: 'Better.' }]);
    const providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret' });
    const { propose } = proposeActivity({ db: http.db, providers } as ActivityDeps);
    const components = { selection: 'all', turn: 1 } as const;
    const request: ProposalRequest = {
      kind: 'rewrite',
      candidate: 1,
      parent: 0,
      generation: 1,
      ordinals: [0],
      components,
    };
    const input = { orgId: 'default', jobId, requests: [request] };
    for (const run of [1, 2]) {
      const answers = await new MockActivityEnvironment().run(propose, input);
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
