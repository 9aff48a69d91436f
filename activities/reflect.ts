import type { SessionSpec } from '../src/contracts/spec.js';
import { groupByCause } from '../src/core/search/causes.js';
import { chooseComponents, type Texts } from '../src/core/search/components.js';
import { buildReflection } from '../src/core/search/reflection.js';
import type { ProposalRequest } from '../src/core/work.js';
import type { JobRef } from '../src/storage/events.js';
import { readExamples } from '../src/storage/reflection-examples.js';
import type { ActivityDeps } from './deps.js';
import { readDescription } from './describe.js';
import { instructionFor, proposeOne } from './one-proposal.js';

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
  const group = pick ? groupByCause(known, pick.size, pick.of)[pick.place]! : [...known.keys()];
  const examples = group.map((place) => known[place]!);
  const shown = examples.map(({ ordinal }) => ordinal);
  const names = Object.keys(parent);
  const feedback = examples.map((example) => example.feedback);
  const selection = (spec.algorithm === 'gepa' ? spec.gepa.componentSelection : undefined) ?? 'feedback';
  const components = rewrite ? [names[rewrite.component]!] : chooseComponents(names, feedback, selection, candidate);
  const context = { ...(task !== null && { task }), ...(rewrite?.tip != null && { tip: rewrite.tip }) };
  const answers = await Promise.all(
    components.map((component) => {
      const { [component]: instruction = '', ...others } = parent;
      const question = buildReflection({
        instruction,
        examples: [...good, ...examples],
        component,
        others,
        ...context,
      });
      const asked = { candidate, part: names.indexOf(component), question, read: instructionFor(instruction) };
      return proposeOne(deps, job, spec, asked, signal);
    }),
  );
  const texts: Record<string, string> = {};
  for (const [place, answer] of answers.entries()) if (answer.ok) texts[components[place]!] = answer.text;
  const changed = Object.keys(texts);
  if (changed.length > 0) return { outcome: 'proposed', texts: { ...parent, ...texts }, components: changed, shown };
  const reasons = answers.flatMap((answer) => (answer.ok || answer.unchanged ? [] : [answer.reason]));
  const [reason] = reasons;
  return reason === undefined ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason, shown };
}
