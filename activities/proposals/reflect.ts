import type { SearchSpec, SessionSpec } from '../../src/core/jobs/spec.js';
import { clusterByFeedback } from '../../src/core/proposals/feedback-clusters.js';
import { chooseComponents, type Texts } from '../../src/core/proposals/components.js';
import { buildReflection, type ReflectionExample } from '../../src/core/proposals/reflection.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readExamples } from '../../src/storage/candidates/reflection-examples.js';
import type { ActivityDeps } from '../deps.js';
import { readDescription } from './describe.js';
import { instructionFor, proposeOne, type ProposalAsked } from './one.js';

/** What came of a reflection: new texts by component, or why there are none; `shown` are the rollouts it was shown. */
export type Reflected =
  | { outcome: 'proposed'; texts: Texts; components: string[]; shown: number[] }
  | { outcome: 'unchanged'; shown: number[] }
  | { outcome: 'failed'; reason: string; shown: number[] };

/** Has the proposer rewrite what the failures point at of a candidate's texts, each component by a question of its own. */
export async function reflect(
  deps: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  { candidate, ordinals, pick, rewrite }: ProposalRequest,
  parent: Texts,
  signal: AbortSignal,
): Promise<Reflected> {
  const { known, good, task } = await deps.db.org(job.orgId, async (tx) => ({
    known: await readExamples(tx, job.jobId, ordinals),
    good: rewrite ? await readExamples(tx, job.jobId, rewrite.examples) : [],
    task: rewrite ? await readDescription(tx, job) : null,
  }));
  const examples = chosenOf(known, pick);
  const shown = examples.map(({ ordinal }) => ordinal);
  const names = Object.keys(parent);
  const feedback = examples.map((example) => example.feedback);
  const selection = (spec.algorithm === 'gepa' ? spec.gepa.componentSelection : undefined) ?? 'feedback';
  const components = rewrite ? [names[rewrite.component]!] : chooseComponents(names, feedback, selection, candidate);
  const context = { ...(task !== null && { task }), ...(rewrite?.tip != null && { tip: rewrite.tip }) };
  const asked = { candidate, parent, components, examples: [...good, ...examples], context, readOf: instructionFor };
  const { texts, reason } = await rewriteTexts(deps, job, spec, asked, signal);
  const changed = Object.keys(texts);
  if (changed.length > 0) return { outcome: 'proposed', texts: { ...parent, ...texts }, components: changed, shown };
  return reason === null ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason, shown };
}

/** Of the rollouts that a proposal may be shown those that it is. */
export function chosenOf<Example extends ReflectionExample>(
  known: readonly Example[],
  pick: ProposalRequest['pick'],
): Example[] {
  const group = pick ? clusterByFeedback(known, pick.size, pick.of)[pick.index]! : [...known.keys()];
  return group.map((index) => known[index]!);
}

/** What is to be rewritten of a candidate's texts; `readOf` reads what is to stand in the place of a text. */
export interface Rewriting {
  candidate: number;
  parent: Texts;
  components: readonly string[];
  examples: readonly ReflectionExample[];
  context: { task?: string; tip?: string };
  readOf: (text: string, component: string) => ProposalAsked['read'];
}

/** Has components rewritten, each by a question of its own: those that changed, and why others did not (null: it is the same text). */
export async function rewriteTexts(
  deps: ActivityDeps,
  job: JobRef,
  spec: SearchSpec,
  { candidate, parent, components, examples, context, readOf }: Rewriting,
  signal: AbortSignal,
): Promise<{ texts: Texts; reason: string | null }> {
  const names = Object.keys(parent);
  const answers = await Promise.all(
    components.map((component) => {
      const { [component]: instruction = '', ...others } = parent;
      const question = buildReflection({ instruction, examples, component, others, ...context });
      const read = readOf(instruction, component);
      return proposeOne(deps, job, spec, { candidate, part: names.indexOf(component), question, read }, signal);
    }),
  );
  const texts: Record<string, string> = {};
  for (const [index, answer] of answers.entries()) if (answer.ok) texts[components[index]!] = answer.text;
  const [reason = null] = answers.flatMap((answer) => (answer.ok || answer.unchanged ? [] : [answer.reason]));
  return { texts, reason };
}
