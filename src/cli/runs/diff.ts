/** What a prompt changes in another, edit by edit. */
import { RatchetError, type Answer, type DryRun, type Ratchet } from '../../client/index.js';
import { signed } from '../../core/math/words.js';
import { sessionOfCandidate } from '../../core/jobs/ids.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { promptChanges, type PromptTexts } from '../../core/prompts/changes/changes.js';
import { changeLines, editLine, togetherLines } from '../../core/prompts/changes/report.js';
import { componentTexts } from '../../core/prompts/components.js';
import { ConfigError } from '../../service/config.js';
import { confirmCost, estimateText } from '../commands/cost.js';
import { requireCompleted } from '../commands/evaluate.js';
import { searchOf } from '../mcp/candidates.js';
import type { CommandClient } from '../service/client.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { intervalText, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { readPrompt } from '../task/task.js';

export interface DiffOptions {
  against?: string;
  without?: number;
  yes?: boolean;
  json?: boolean;
}

type Changes = Answer<'getSessionChanges'>;

/** A candidate of a job, or the texts of a file or a deployment. */
type Side = { jobId: string; candidateId: string } | { texts: PromptTexts };

/** Prints the edits that make `after` of `before`, or the winner of a job of its baseline. */
export async function diff(before: string, after: string | undefined, options: DiffOptions): Promise<void> {
  const { against, without, json = false } = options;
  if (after !== undefined && against !== undefined)
    throw new ConfigError('--against: leave it out, or the second prompt');
  if (after !== undefined && isFile(before) && isFile(after)) {
    if (without !== undefined) throw new ConfigError(withoutNeeds);
    return sayTexts(await textsOfFile(before), await textsOfFile(after), json);
  }
  await withService(async (client) => {
    const side = await sideOf(client, after ?? before);
    const other = after === undefined ? null : await sideOf(client, before);
    if (!('jobId' in side) || (other !== null && !('jobId' in other && other.jobId === side.jobId))) {
      if (other === null)
        throw new ConfigError(`${before} is no job or candidate: name another prompt to compare with`);
      if (without !== undefined) throw new ConfigError(withoutNeeds);
      return sayTexts(await textsOf(client, other), await textsOf(client, side), json);
    }
    const base = other === null ? against : (other as { candidateId: string }).candidateId;
    const changes = await searchOf(client, side.jobId).changes(side.candidateId, { against: base ?? 'baseline' });
    if (without !== undefined) return evaluateWithout(client, changes, without, options);
    if (json) return sayJson(changes);
    sayLines(changeLines(changes), changes.total);
    for (const line of togetherLines(changes)) say(line);
  });
}

const withoutNeeds = '--without: needs a candidate of a session, and its baseline';

const isFile = (name: string) => kindOf(name) === null && sessionOfCandidate(name) === null;

async function textsOfFile(path: string): Promise<PromptTexts> {
  const { messages } = await readPrompt(path, { option: 'the prompt' });
  return new Map(Object.entries(componentTexts(messages)));
}

async function sideOf(client: Ratchet, name: string): Promise<Side> {
  const kind = kindOf(name);
  if (kind === 'session' || kind === 'graph') return { jobId: name, candidateId: await bestOf(client, name) };
  const session = sessionOfCandidate(name);
  if (session !== null) return { jobId: await jobOfCandidate(client, session), candidateId: name };
  if (kind === 'deployment') return { texts: await servedTexts(client, name) };
  if (kind !== null)
    throw new ConfigError(`${name} has no prompt of its own: name a session, a graph job or a candidate`);
  return { texts: await textsOfFile(name) };
}

async function bestOf(client: Ratchet, id: string): Promise<string> {
  const job = kindOf(id) === 'graph' ? client.graphs.handle(id) : client.sessions.handle(id);
  const { best_candidate: best } = await job.get();
  if (!best) throw new FailedJob(`${id} has no evaluated candidate yet.`);
  return best.candidate_id;
}

/** The job of a candidate, whose id does not say its kind. */
async function jobOfCandidate(client: Ratchet, session: string): Promise<string> {
  const graph = `${jobKinds.graph.prefix}${session.slice(jobKinds.session.prefix.length)}`;
  try {
    await client.graphs.handle(graph).get();
    return graph;
  } catch (error) {
    if (error instanceof RatchetError && error.status === 404) return session;
    throw error;
  }
}

async function servedTexts(client: Ratchet, id: string): Promise<PromptTexts> {
  const { snapshot_id: snapshot } = await client.deployments.handle(id).get();
  if (snapshot === null) throw new FailedJob(`${id} serves nothing yet.`);
  const content = await client.deployments.snapshot(snapshot);
  if (content.kind !== 'messages') throw new ConfigError(`${id} serves a graph: name its graph job`);
  return new Map(Object.entries(componentTexts(content.messages)));
}

async function textsOf(client: Ratchet, side: Side): Promise<PromptTexts> {
  if ('texts' in side) return side.texts;
  const detail = await searchOf(client, side.jobId).candidate(side.candidateId);
  if ('prompts' in detail) return new Map(detail.prompts.map(({ component, text }) => [component, text]));
  return new Map(Object.entries(componentTexts(detail.messages)));
}

function sayTexts(before: PromptTexts, after: PromptTexts, json: boolean): void {
  const { edits } = promptChanges(before, after);
  if (json) return sayJson({ edits, total: edits.length });
  sayLines(changeLines({ edits, authors: [] }), edits.length);
}

function sayLines(lines: readonly string[], total: number): void {
  if (total === 0) return say('No sentence differs.');
  const width = String(lines.length).length;
  for (const [index, line] of lines.entries()) say(`${String(index + 1).padStart(width)}  ${line}`);
  if (total > lines.length) say(`… and ${total - lines.length} more`);
}

/** Evaluates the candidate without the edit of a line, and compares the two. */
async function evaluateWithout(client: CommandClient, changes: Changes, line: number, { yes, json }: DiffOptions) {
  const { job_id: jobId, candidate_id: candidateId, against_id: against } = changes;
  const edit = changes.edits[line - 1];
  if (kindOf(jobId) !== 'session') throw new ConfigError('--without: needs a candidate of a session');
  if (!edit || edit.to === null || edit.kind === 'moved')
    throw new ConfigError(`--without: ${line} is no added or changed sentence of the list of edits`);
  const path = { session_id: jobId, candidate_id: candidateId };
  const body = { component: edit.component, sentence: edit.to, against };
  const query = { dry_run: 'true' } as const;
  const { estimate } = (await client.request('createSessionAblation', { path, query, body })) as DryRun;
  note(estimateText(estimate));
  await confirmCost(estimate, { yes: yes ?? false });
  const evaluation = await client.sessions.handle(jobId).ablate(candidateId, body);
  noteJob(client, evaluation.id);
  requireCompleted(evaluation.id, await evaluation.wait());
  const found = await client.compare(evaluation.id, candidateId);
  if (json) return sayJson(found);
  const { difference, seeds_compared: rows, basis, verdict } = found;
  const words = { better: 'it helps', worse: 'it hurts', inconclusive: 'not shown to help' }[verdict];
  const place = basis === 'heldout' ? 'held-out' : 'evaluation';
  say(editLine(edit, null));
  say(
    `With it minus without it: ${signed(difference.mean)} (${intervalText(difference)}) on ${rows} ${place} rows: ${words}`,
  );
}
