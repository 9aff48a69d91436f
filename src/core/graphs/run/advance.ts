/** Advances a run after a step's value: requests, runs and finishes steps. */
import { evaluateCondition } from '../condition.js';
import { defaults, type SelectStep } from '../graph.js';
import { measureMessages } from './messages.js';
import type { Plan, PlannedStep, ResolvedRef } from '../plan.js';
import { Failure, fail, lookUp, unwrap, resolveValue } from './resolve.js';
import type { Outcome, StepState } from './state.js';
import { applyTransform } from '../transform.js';
import { groupValues, majorityValue } from './vote.js';
import { describeValue, isList, sizeProblem, type Json } from '../values.js';

/** A run under construction, owned by the caller until it is returned. */
export interface Draft {
  plan: Plan;
  input: Json;
  states: StepState[];
  outcome: Outcome;
  chars: number;
}

/**
 * Advances a draft as far as possible without a model: from its start (null), or from the step at
 * `index` whose calls are all answered. Visits a step once per value it waits for.
 */
export function advance(draft: Draft, index: number | null): void {
  const ready: number[] = [];
  const { plan } = draft;
  let current: number | null = null;
  try {
    if (index === null) requireStep(draft, plan.output.from, ready);
    else ready.push(index);
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      current = next;
      const value = runStep(draft, next, ready);
      if (value !== undefined) finish(draft, next, value, ready);
    }
    current = null;
    setOutcome(draft);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const step = current === null || error.failsRun ? null : plan.steps[current]!.step.id;
    draft.outcome = { status: 'failed', step, reason: error.message };
  }
}

function setOutcome(draft: Draft): void {
  const { from } = draft.plan.output;
  if (typeof from === 'number' && draft.states[from]!.at !== 'done') return;
  draft.outcome = { status: 'done', value: resolveValue(draft, draft.plan.output) };
}

/** Requests a step's value; adds steps that are ready to `ready`. True if the value exists. */
function requireStep(draft: Draft, index: ResolvedRef['from'], ready: number[]): boolean {
  if (typeof index !== 'number') return true;
  const pending: number[] = [index];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (draft.states[next]!.at !== 'idle') continue;
    const { step, dependencies } = draft.plan.steps[next]!;
    const missing =
      step.type === 'select' ? 0 : dependencies.filter((other) => draft.states[other]!.at !== 'done').length;
    draft.states[next] = { at: 'waiting', missing };
    if (missing === 0) ready.push(next);
    else pending.push(...dependencies);
  }
  return draft.states[index]!.at === 'done';
}

function finish(draft: Draft, index: number, value: Json, ready: number[]): void {
  const { step, dependents } = draft.plan.steps[index]!;
  // Bound every value: templates and lists can repeat a value many times.
  const sizeError = sizeProblem(value);
  if (sizeError !== null) fail(`${step.type === 'transform' ? step.op : step.type} gives a value that ${sizeError}`);
  draft.states[index] = { at: 'done', value };
  for (const user of dependents) {
    const state = draft.states[user]!;
    if (state.at === 'choosing' && state.waitsFor === index) ready.push(user);
    if (state.at !== 'waiting' || state.missing === 0) continue;
    draft.states[user] = { at: 'waiting', missing: state.missing - 1 };
    if (state.missing === 1) ready.push(user);
  }
}

/** Runs a step; undefined if it waits for a model or for its chosen branch. */
function runStep(draft: Draft, index: number, ready: number[]): Json | undefined {
  const chosenRef = draft.plan.steps[index]!;
  const { step } = chosenRef;
  const state = draft.states[index]!;
  if (state.at === 'calling') return answerValue(chosenRef, state.answers);
  switch (step.type) {
    case 'select':
      return choose(draft, index, step, ready);
    case 'transform': {
      const inputs = Object.entries(step.inputs).map(
        ([name, ref]) => [name, resolveInput(draft, chosenRef, ref)] as const,
      );
      const done = applyTransform(step, Object.fromEntries(inputs));
      return done.ok ? done.value : fail(done.reason);
    }
    case 'llm':
      return requestCalls(draft, index, step.samples ?? 1);
    case 'map': {
      const items = requireList(resolveInput(draft, chosenRef, step.over), 'map');
      const maxItems = step.maxItems ?? defaults.mapItems;
      if (items.length > maxItems) fail(`map accepts at most ${maxItems} items, but got ${describeValue(items)}`);
      return items.length === 0 ? [] : requestCalls(draft, index, items.length);
    }
    case 'vote': {
      const values =
        step.over === undefined
          ? step.of!.map((ref) => resolveInput(draft, chosenRef, ref))
          : requireList(resolveInput(draft, chosenRef, step.over), 'vote');
      if (values.length === 0) fail('vote has nothing to choose from: the list is empty');
      if (step.by === 'majority') return majorityValue(values);
      const candidates = groupValues(values).map(({ value }) => value);
      if (candidates.length === 1) return candidates[0];
      return requestCalls(draft, index, 1, candidates);
    }
  }
}

/** Evaluates cases in order, each only if the earlier ones do not hold; undefined while waiting. */
function choose(draft: Draft, index: number, step: SelectStep, ready: number[]): Json | undefined {
  const { refs } = draft.plan.steps[index]!;
  const wait = ({ from }: ResolvedRef, chosen: ResolvedRef | null): undefined => {
    draft.states[index] = { at: 'choosing', waitsFor: from as number, chosen };
  };
  let chosen = step.otherwise;
  for (const { when, then } of step.cases) {
    const ref = refs.get(when.of)!;
    if (!requireStep(draft, ref.from, ready)) return wait(ref, null);
    const found = lookUp(draft, ref);
    // `empty` also tests for an optional field that is missing.
    const value = !found.ok && when.is === 'empty' ? null : unwrap(found);
    const condition = evaluateCondition(when, value);
    if (!condition.ok) fail(`the condition on ${when.of}: ${condition.reason}`);
    if (!condition.holds) continue;
    chosen = then;
    break;
  }
  const chosenRef = refs.get(chosen)!;
  return requireStep(draft, chosenRef.from, ready) ? resolveValue(draft, chosenRef) : wait(chosenRef, chosenRef);
}

function answerValue({ step }: PlannedStep, answers: readonly Json[]): Json {
  return step.type === 'map' || answers.length > 1 ? answers : answers[0]!;
}

function requestCalls(draft: Draft, index: number, count: number, candidates: readonly Json[] = []): undefined {
  draft.chars = measureMessages(draft, index, count, candidates, draft.chars);
  const none = Array.from({ length: count }, () => null);
  draft.states[index] = { at: 'calling', open: none.map(() => true), answers: none, left: count, candidates };
}

/** The key of a step's call `at`; the first has no number, so adding samples keeps its key. */
export function callKey(id: string, at: number): string {
  return at === 0 ? id : `${id}#${at + 1}`;
}

function resolveInput(draft: Draft, { refs }: PlannedStep, ref: string): Json {
  return resolveValue(draft, refs.get(ref)!);
}

function requireList(value: Json, what: string): readonly Json[] {
  return isList(value) ? value : fail(`${what} expects a list, but got ${describeValue(value)}`);
}
