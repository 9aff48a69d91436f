/** What follows in a run from the value of one step: which steps are asked for, run, and finished. */
import { judgeCondition } from '../condition.js';
import { defaults, type SelectStep } from '../graph.js';
import { measured } from './messages.js';
import type { Plan, PlannedStep, Way } from '../plan.js';
import { Failure, fail, find, read, resolve } from './reading.js';
import type { Outcome, StepState } from './run.js';
import { applyTransform } from '../transform.js';
import { groupValues, majorityOf } from './vote.js';
import { described, isList, sizeProblem, type Json } from '../values.js';

/** A run that is being changed: of whoever made it, and of nobody else until that is done. */
export interface Draft {
  plan: Plan;
  input: Json;
  states: StepState[];
  outcome: Outcome;
  chars: number;
}

/**
 * Brings a draft as far as it goes without a model: from its start (null), or from the step at `place`, whose calls are all
 * answered. Work to do is a list and not a recursion, and each step is looked at once for each value that it waits for.
 */
export function advance(draft: Draft, index: number | null): void {
  const open: number[] = [];
  const { plan } = draft;
  let current: number | null = null;
  try {
    if (index === null) need(draft, plan.output.from, open);
    else open.push(index);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      current = next;
      const value = work(draft, next, open);
      if (value !== undefined) finish(draft, next, value, open);
    }
    current = null;
    settle(draft);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const step = current === null || error.ofRun ? null : plan.steps[current]!.step.id;
    draft.outcome = { status: 'failed', step, reason: error.message };
  }
}

/** The outcome, once the output's step has its value. */
function settle(draft: Draft): void {
  const { from } = draft.plan.output;
  if (typeof from === 'number' && draft.states[from]!.at !== 'done') return;
  draft.outcome = { status: 'done', value: resolve(draft, draft.plan.output) };
}

/** Has a step run; `open` gets it where all that it needs is there. True where it has its value already. */
function need(draft: Draft, index: Way['from'], open: number[]): boolean {
  if (typeof index !== 'number') return true;
  const wanted: number[] = [index];
  for (let one = wanted.pop(); one !== undefined; one = wanted.pop()) {
    if (draft.states[one]!.at !== 'idle') continue;
    const { step, needs } = draft.plan.steps[one]!;
    const missing = step.type === 'select' ? 0 : needs.filter((other) => draft.states[other]!.at !== 'done').length;
    draft.states[one] = { at: 'waiting', missing };
    if (missing === 0) open.push(one);
    else wanted.push(...needs);
  }
  return draft.states[index]!.at === 'done';
}

function finish(draft: Draft, index: number, value: Json, open: number[]): void {
  const { step, users } = draft.plan.steps[index]!;
  // What a template or a list of the same values over and over may grow to is bounded step by step.
  const tooLarge = sizeProblem(value);
  if (tooLarge !== null) fail(`${step.type === 'transform' ? step.op : step.type} gives a value that ${tooLarge}`);
  draft.states[index] = { at: 'done', value };
  for (const user of users) {
    const state = draft.states[user]!;
    if (state.at === 'choosing' && state.needs === index) open.push(user);
    if (state.at !== 'waiting' || state.missing === 0) continue;
    draft.states[user] = { at: 'waiting', missing: state.missing - 1 };
    if (state.missing === 1) open.push(user);
  }
}

/** The value of a step that has all it needs; undefined where it waits, for a model or for the branch that it has chosen. */
function work(draft: Draft, index: number, open: number[]): Json | undefined {
  const planned = draft.plan.steps[index]!;
  const { step } = planned;
  const state = draft.states[index]!;
  if (state.at === 'asking') return answersOf(planned, state.answers);
  switch (step.type) {
    case 'select':
      return choose(draft, index, step, open);
    case 'transform': {
      const inputs = Object.entries(step.inputs).map(([name, ref]) => [name, valueOf(draft, planned, ref)] as const);
      const done = applyTransform(step, Object.fromEntries(inputs));
      return done.ok ? done.value : fail(done.reason);
    }
    case 'llm':
      return ask(draft, index, step.samples ?? 1);
    case 'map': {
      const items = listOf(valueOf(draft, planned, step.over), 'map');
      const most = step.maxItems ?? defaults.mapItems;
      if (items.length > most) fail(`map takes at most ${most} items, and got ${described(items)}`);
      return items.length === 0 ? [] : ask(draft, index, items.length);
    }
    case 'vote': {
      const values =
        step.over === undefined
          ? step.of!.map((ref) => valueOf(draft, planned, ref))
          : listOf(valueOf(draft, planned, step.over), 'vote');
      if (values.length === 0) fail('vote has nothing to choose from: the list is empty');
      if (step.by === 'majority') return majorityOf(values);
      const candidates = groupValues(values).map(({ value }) => value);
      if (candidates.length === 1) return candidates[0];
      return ask(draft, index, 1, candidates);
    }
  }
}

/** The case chosen, as far as that is known: conditions are looked at one by one, each only when those before do not hold. */
function choose(draft: Draft, index: number, step: SelectStep, open: number[]): Json | undefined {
  const { ways } = draft.plan.steps[index]!;
  const wait = ({ from }: Way, chosen: Way | null): undefined => {
    draft.states[index] = { at: 'choosing', needs: from as number, chosen };
  };
  let chosen = step.otherwise;
  for (const { when, then } of step.cases) {
    const way = ways.get(when.of)!;
    if (!need(draft, way.from, open)) return wait(way, null);
    const found = find(draft, way);
    // A field that an answer may leave out can be asked for.
    const value = !found.ok && when.is === 'empty' ? null : read(found);
    const judged = judgeCondition(when, value);
    if (!judged.ok) fail(`the condition on ${when.of}: ${judged.reason}`);
    if (!judged.holds) continue;
    chosen = then;
    break;
  }
  const way = ways.get(chosen)!;
  return need(draft, way.from, open) ? resolve(draft, way) : wait(way, way);
}

function answersOf({ step }: PlannedStep, answers: readonly Json[]): Json {
  return step.type === 'map' || answers.length > 1 ? answers : answers[0]!;
}

/** Wants so many calls. */
function ask(draft: Draft, index: number, count: number, candidates: readonly Json[] = []): undefined {
  draft.chars = measured(draft, index, count, candidates, draft.chars);
  const none = Array.from({ length: count }, () => null);
  draft.states[index] = { at: 'asking', open: none.map(() => true), answers: none, left: count, candidates };
}

/** The key of a step's call number `at`, from 0 on. The first has none, so that it is the same when a step gets samples. */
export function keyOfCall(id: string, at: number): string {
  return at === 0 ? id : `${id}#${at + 1}`;
}

function valueOf(draft: Draft, { ways }: PlannedStep, ref: string): Json {
  return resolve(draft, ways.get(ref)!);
}

function listOf(value: Json, what: string): readonly Json[] {
  return isList(value) ? value : fail(`${what} takes a list, and got ${described(value)}`);
}
