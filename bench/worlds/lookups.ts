/**
 * Worlds for graphs: the task model makes one reliable lookup per call. `two-step`: a second in one
 * call succeeds in 30 % of inputs, 60 % step by step. `one-step`: one call suffices.
 */
import { driveGraph } from '../../src/core/graphs/run/drive.js';
import type { Graph } from '../../src/core/graphs/graph.js';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { outcomeOf } from '../../src/core/graphs/run/run.js';
import { exact } from '../../src/scorers/exact.js';
import { seededDraws, textDraws } from './draws.js';
import { propose } from './lookup-proposer.js';
import { readLookup, steps, townWanted, writeLookup, type Lookup } from './lookup-texts.js';
import { readPrompt, writePrompt } from './statements.js';
import type { ChatMessage } from './task-texts.js';
import { drawWord, streams } from './topics.js';
import type { Judgement } from './world.js';

export const lookupKinds = ['two-step', 'one-step'] as const;
export type LookupKind = (typeof lookupKinds)[number];

/** Deterministic by kind and seed; identical messages get identical answers. */
export interface LookupWorld {
  kind: LookupKind;
  /** The initial system message, and the one that states every rule. */
  baseline: string;
  perfect: string;
  input(seed: number): string;
  expected(seed: number): string;
  /** The task model's answer. */
  answer(messages: readonly ChatMessage[]): string;
  /** The proposer's answer, to requests for a text or for edits of a graph. */
  propose(messages: readonly ChatMessage[]): string;
  score(seed: number, answer: string): Judgement;
  /** A graph's mean reward on fresh instances, outside all tasks. */
  trueReward(graph: Graph): Promise<number>;
}

/** Instances of a search, and those that judge its winner. */
export const lookupTasks = 120;
const fresh = { from: 1_000, count: 240 } as const;
const baseline = 'Answer the question by the facts. Give the answer alone.';
const names = {
  people: 'Adam Berta Cyril Dora Emil Frida Gregor Hana Ivan Jana Karel Lena Milan Nora Otto Petra'.split(' '),
  towns: 'Arnfeld Brunow Cavria Dolne Estermark Falkau Gorin Hochberg Isel Jarov'.split(' '),
  kept: 'bees cows ducks eels geese goats horses sheep'.split(' '),
};
/** Facts of each kind in an input. */
const facts = 5;
/** Number of things with a word of their own. */
const withWord = 5;
/** Percentage of inputs whose second lookup in one call is right. */
const second = { plain: 30, stepwise: 60 } as const;

/** The single-step graph of a prompt. */
export function promptGraph(system: string): Graph {
  return singleStepGraph([{ role: 'system', content: system }], ['question']);
}

export function openLookupWorld(kind: LookupKind, worldSeed: number): LookupWorld {
  const draws = seededDraws(worldSeed, streams.lookups);
  const rules = new Map(
    draws
      .shuffled(names.kept)
      .slice(0, withWord)
      .map((thing) => [thing, drawWord(draws)]),
  );

  function lookup(seed: number): Lookup {
    const own = textDraws(`${worldSeed}\ninput ${seed}`);
    const [people, towns, kept] = [names.people, names.towns, names.kept].map((all) =>
      own.shuffled(all).slice(0, facts),
    );
    const person = people![0]!;
    return {
      lives: new Map(people!.map((person, at) => [person, towns![at]!])),
      keeps: new Map(own.shuffled(towns!.map((town, at) => [town, kept![at]!] as const))),
      query: kind === 'two-step' ? { person } : { town: towns![own.below(facts)]! },
    };
  }
  const input = (seed: number) => writeLookup(lookup(seed));
  const thingOf = ({ lives, keeps, query }: Lookup) =>
    keeps.get('town' in query ? query.town : lives.get(query.person)!)!;
  const expected = (seed: number) => {
    const thing = thingOf(lookup(seed));
    return rules.get(thing) ?? thing;
  };

  function answer(messages: readonly ChatMessage[]): string {
    const found = readLookup(messages.map(({ content }) => content).join('\n'));
    if (!found) return 'Which question?';
    const { lookup: known, rest, text } = found;
    const { lives, keeps, query } = known;
    const town = 'town' in query ? query.town : lives.get(query.person)!;
    if (rest.includes(townWanted)) return town;
    const { stated } = readPrompt(rest);
    const [, draft] = /^(?:Draft: |Its answer:\n)(.*)$/m.exec(rest) ?? [];
    const givenTown = [...rest.matchAll(/^The town: (\S+)$/gm)].findLast(([, name]) => keeps.has(name!))?.[1];
    // A verifier knows no more than the author of the draft, nor the answer's format.
    if (draft !== undefined && givenTown === undefined && stated.size === 0) return draft;
    const thing = givenTown === undefined ? guess(known, town, text, rest) : keeps.get(givenTown)!;
    return stated.get(thing) ?? thing;
  }

  function guess({ keeps, query }: Lookup, town: string, text: string, rest: string): string {
    const right = keeps.get(town)!;
    if ('town' in query) return right;
    const own = textDraws(`${worldSeed}\nguess ${text}`);
    const isRight = own.below(100) < (rest.includes(steps) ? second.stepwise : second.plain);
    const wrong = [...keeps.values()].filter((thing) => thing !== right).sort();
    return isRight ? right : wrong[own.below(wrong.length)]!;
  }

  const judge = (seed: number, given: string): Judgement =>
    exact.score({ caseSensitive: false }, expected(seed), given);

  return {
    kind,
    baseline,
    input,
    expected,
    answer,
    perfect: writePrompt([baseline], rules),
    propose: (messages) => propose(messages, worldSeed),
    score(seed, given) {
      const { reward, feedback } = judge(seed, given);
      return { reward, feedback };
    },
    async trueReward(graph) {
      let sum = 0;
      for (let seed = fresh.from; seed < fresh.from + fresh.count; seed += 1) {
        const ask = (request: readonly ChatMessage[]) => ({ ok: true as const, text: answer(request) });
        const { run } = await driveGraph(graph, { question: input(seed) }, ({ messages }) =>
          Promise.resolve(ask(messages)),
        );
        const outcome = outcomeOf(run);
        if (outcome.status === 'done') sum += judge(seed, String(outcome.value)).reward;
      }
      return sum / fresh.count;
    },
  };
}
