import type { SessionSpec } from '../src/contracts/spec.js';
import { groupByCause } from '../src/core/search/causes.js';
import { chooseComponents, type Texts } from '../src/core/search/components.js';
import { buildReflection } from '../src/core/search/reflection.js';
import type { ProposalRequest } from '../src/core/work.js';
import type { JobRef } from '../src/storage/events.js';
import { readExamples } from '../src/storage/reflection-examples.js';
import type { ActivityDeps } from './deps.js';
import { proposeOne } from './one-proposal.js';

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
  { candidate, ordinals, pick }: ProposalRequest,
  parent: Texts,
  signal: AbortSignal,
): Promise<Reflected> {
  const known = await deps.db.org(job.orgId, (tx) => readExamples(tx, job.jobId, ordinals));
  const group = pick ? groupByCause(known, pick.size, pick.of)[pick.place]! : [...known.keys()];
  const examples = group.map((place) => known[place]!);
  const shown = examples.map(({ ordinal }) => ordinal);
  const names = Object.keys(parent);
  const feedback = examples.map((example) => example.feedback);
  const components = chooseComponents(names, feedback, spec.gepa.componentSelection ?? 'feedback', candidate);
  const answers = await Promise.all(
    components.map((component) => {
      const { [component]: instruction = '', ...others } = parent;
      const question = buildReflection({ instruction, examples, component, others });
      const asked = { candidate, part: names.indexOf(component), question, parent: instruction };
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
