import { isTerminal, type Status } from '../../../../../src/core/jobs/status.js';
import { until } from '../../../../support/until.js';
import type { Recorder } from '../recorder.js';
import { graphBody } from './graphs.js';
import { prompt, sessionBody } from './sessions.js';
import { rows } from './world.js';

const policy = { provider: 'local', model: 'local' };
const messages = [{ role: 'system', content: 'Answer with the name of the city alone.' }];

interface Sample {
  kind: 'Session' | 'Evaluation' | 'GraphJob' | 'Deployment';
  id: string;
  body: object;
}

const samples: Sample[] = [
  { kind: 'Session', id: 'session_id', body: sessionBody(policy) },
  {
    kind: 'Evaluation',
    id: 'job_id',
    body: { name: 'capitals, test', dataset: { rows }, scorer: 'contains', policy, candidate: { messages: prompt } },
  },
  { kind: 'GraphJob', id: 'job_id', body: graphBody(policy) },
  { kind: 'Deployment', id: 'deployment_id', body: { name: 'capitals', source: { messages, policy } } },
];

/** Creates that everybody can send: their data are rows, and their model is in the process. */
export async function playSamples(api: Recorder): Promise<void> {
  for (const { kind, id: parameter, body } of samples) {
    const created = await api.call<{ id?: string; job_id: string }>(`create${kind}`, { body });
    const path = { [parameter]: created.id ?? created.job_id };
    await until(`${kind} has ended`, async () => {
      const { status } = await api.peek<{ status: Status | 'ready' }>(`get${kind}`, { path });
      return status === 'ready' || isTerminal(status);
    });
    await api.peek(`delete${kind}`, { path });
  }
}
