/**
 * Two-step questions about a passage of things and groups. A question about a thing's group needs
 * two lookups; groups are drawn anew for each task, so no prompt can know them.
 */
import { drawsOf, type Draws } from './draws.js';
import { company, inventedTheme, type Theme } from './themes.js';

/** Number of things, and of groups, per task: a random guess of the group is right once in five. */
export const groupsOfTask = 5;
/** One task in this many is a one-step question. */
const oneStepEvery = 4;

export interface TwoStepTask {
  facts: string;
  question: string;
  answer: string;
  steps: 1 | 2;
}

/** The initial prompt: the instruction without attributes and steps. */
export const initialPrompt = 'Answer the question from the facts.';

/** Generates tasks; seed 0 uses the sample's words, other seeds invented words. */
export function twoStepTasks(seed: number, count: number): TwoStepTask[] {
  const draws = drawsOf(seed);
  const theme = seed === 0 ? company : inventedTheme(draws);
  return Array.from({ length: count }, (_, at) => taskOf(theme, draws, at % oneStepEvery === 0 ? 1 : 2));
}

/** The data set of a graph job on these tasks. */
export function twoStepDataset(tasks: readonly TwoStepTask[]) {
  const idOf = (at: number) => `task-${String(at).padStart(3, '0')}`;
  return {
    initial_prompt: initialPrompt,
    tasks: tasks.map(({ facts, question }, at) => ({ id: idOf(at), input: { facts, question } })),
    gold_outputs: tasks.map(({ answer }, at) => ({ task_id: idOf(at), output: answer })),
    verifier_config: { mode: 'exact' },
  };
}

/** `relinked` rotates the assignment of groups to things; the rest of the task is unchanged. */
export function taskOf(theme: Theme, draws: Draws, steps: 1 | 2, relinked = 0): TwoStepTask {
  const things = draws.some(theme.things, groupsOfTask);
  const groups = draws.some(theme.groups, groupsOfTask);
  // A different rotation per link, so that no thing has the same group twice.
  const linked = theme.links.map(({ name }, turn) => {
    const valueOf = (at: number) => groups[(at + turn + relinked) % groupsOfTask]!;
    return { name, values: new Map(things.map((thing, at) => [thing, valueOf(at)])) };
  });
  const said = [...linked, ...valued(theme.ofThings, things, draws), ...valued(theme.ofGroups, groups, draws)];
  const sentences = said.flatMap(({ name, values }) =>
    [...values].map(([subject, value]) => theme.sentence(name, subject, value)),
  );
  const valueOf = (name: string, subject: string) => said.find((one) => one.name === name)!.values.get(subject)!;
  const facts = draws.some(sentences, sentences.length).join(' ');
  const thing = draws.pick(things);
  if (steps === 1) {
    const aboutThing = draws.pick([true, false]);
    const [attribute, subject] = aboutThing
      ? [draws.pick(theme.ofThings), thing]
      : [draws.pick(theme.ofGroups), draws.pick(groups)];
    const question = `${draws.pick(attribute.asked)} ${subject}?`;
    return { facts, question, answer: valueOf(attribute.name, subject), steps };
  }
  const [link, attribute] = [draws.pick(theme.links), draws.pick(theme.ofGroups)];
  const question = `${draws.pick(attribute.asked)} ${draws.pick(link.asked)} ${thing}?`;
  return { facts, question, answer: valueOf(attribute.name, valueOf(link.name, thing)), steps };
}

function valued(attributes: Theme['ofThings'], subjects: readonly string[], draws: Draws) {
  return attributes.map(({ name, values }) => {
    const drawn = draws.some(values, subjects.length);
    return { name, values: new Map(subjects.map((subject, at) => [subject, drawn[at]!])) };
  });
}

/** The request of a graph job on generated tasks, with the `local` provider. */
export function twoStepJob(seed: number, count: number) {
  return {
    dataset: twoStepDataset(twoStepTasks(seed, count)),
    policy_model: 'local',
    policy_provider: 'local',
    rollout_budget: 400,
    proposer_effort: 'medium',
  };
}
