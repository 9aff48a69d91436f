/** Commands on the requests of jobs. */
import type { Ratchet } from '../../client/index.js';
import { kindOf } from '../../core/jobs/kinds.js';
import { ConfigError } from '../../service/config.js';
import { asObject } from '../../util/json.js';
import { withService } from '../service/connect.js';
import { note, say, sayJson } from '../service/output.js';

/** Prints the request of a job; what it leaves out goes to standard error. */
export async function request(id: string, { candidate }: { candidate?: string }): Promise<void> {
  await withService(async (client) => {
    const query = queryOf(candidate);
    const path = pathOf(id);
    const read = () => {
      switch (kindOf(id)) {
        case 'session':
          return client.request('getSessionRequest', { path, query });
        case 'graph':
          return client.request('getGraphJobRequest', { path, query });
        case 'evaluation':
          if (candidate !== undefined) throw new ConfigError(`${id} is an evaluation, which has no candidates`);
          return client.request('getEvaluationRequest', { path });
        default:
          throw noRequest(id);
      }
    };
    const { request: sent, omitted } = await read();
    if (!sent) throw new ConfigError(`No request made ${id}: it belongs to a deployment, a migration or a checkup.`);
    if (omitted.length > 0) note(`Left out, because they are never returned: ${omitted.join(', ')}`);
    sayJson(sent);
  });
}

interface CloneOptions {
  candidate?: string;
  patch?: string;
  dryRun?: boolean;
}

/** Starts a job again with changes and prints its id, or with `dryRun` its estimate. */
export async function clone(id: string, { candidate, patch, dryRun = false }: CloneOptions): Promise<void> {
  const body = patch === undefined ? {} : parsedPatch(patch);
  await withService(async (client) => {
    const query = { ...queryOf(candidate), ...(dryRun && { dry_run: 'true' as const }) };
    const answer = await sendClone(client, id, { path: pathOf(id), query, body });
    if ('job_id' in answer) say(answer.job_id);
    else sayJson(answer);
  });
}

function sendClone(client: Ratchet, id: string, args: { path: Path; query: object; body: Record<string, unknown> }) {
  switch (kindOf(id)) {
    case 'session':
      return client.request('cloneSession', args);
    case 'graph':
      return client.request('cloneGraphJob', args);
    case 'evaluation':
      return client.request('cloneEvaluation', args);
    default:
      throw noRequest(id);
  }
}

type Path = ReturnType<typeof pathOf>;
const pathOf = (id: string) => ({ session_id: id, job_id: id });
const queryOf = (candidate: string | undefined) => (candidate === undefined ? {} : { candidate_id: candidate });
const noRequest = (id: string) => new ConfigError(`${id.slice(0, 100)} is no session, evaluation or graph job`);

function parsedPatch(text: string): Record<string, unknown> {
  let patch: unknown;
  try {
    patch = JSON.parse(text);
  } catch {
    throw new ConfigError('--patch is not valid JSON');
  }
  const object = asObject(patch);
  if (!object) throw new ConfigError('--patch must be a JSON object');
  return object;
}
