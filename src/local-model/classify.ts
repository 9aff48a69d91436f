/** The task model's choice among labels, by weighted cues from the prompt. */
import type { Guidance } from './guidance.js';
import { hash, isCommon, similar, stem, tellingStems, splitWords } from './words.js';

/** A word of a label's name counts as a weak cue. */
const nameWeight = 1;
const similarWeight = 0.6;
const maxWordsRead = 2_000;
const maxUnknownWords = 100;
const maxCuesCompared = 5_000;

/**
 * The label that fits the text best. Cues of few labels count more; a label with many cues must
 * match more of them. Ties are broken by a hash of text and label.
 */
export function classify(text: string, labels: readonly string[], guidance: Guidance): string {
  const cues = collectCues(labels, guidance);
  const scores = new Map<string, number>(labels.map((label) => [label, 0]));
  const add = (key: string, factor: number) => {
    const owners = cues.get(key)!;
    for (const [label, weight] of owners) {
      scores.set(label, scores.get(label)! + factor * worth(weight, owners.size, labels.length));
    }
  };
  let unknown = 0;
  for (const key of [...tellingStems(text).keys()].slice(0, maxWordsRead)) {
    if (cues.has(key)) {
      add(key, 1);
    } else if (unknown < maxUnknownWords) {
      unknown += 1;
      const close = closest(key, cues);
      if (close !== null) add(close, similarWeight);
    }
  }
  const breadth = cueNorms(labels, cues);
  let best = labels[0]!;
  let bestScore = -Infinity;
  for (const label of labels) {
    const score = scores.get(label)! / Math.sqrt(breadth.get(label) ?? 1);
    if (score > bestScore || (score === bestScore && hash(text + label) > hash(text + best))) {
      best = label;
      bestScore = score;
    }
  }
  return best;
}

/** A cue of few labels counts more, a strong one less than proportionally more. */
function worth(weight: number, owners: number, labels: number): number {
  return Math.sign(weight) * Math.log(1 + Math.abs(weight)) * Math.log(1 + labels / owners);
}

/** Labels and strengths by stem. */
type Cues = Map<string, Map<string, number>>;

/** All cues with their labels; words of a label's own name are weak cues. */
function collectCues(labels: readonly string[], guidance: Guidance): Cues {
  const cues: Cues = new Map();
  const put = (key: string, label: string, weight: number) => {
    const owners = cues.get(key) ?? new Map<string, number>();
    owners.set(label, (owners.get(label) ?? 0) + weight);
    cues.set(key, owners);
  };
  for (const label of labels) {
    for (const word of nameWords(label)) put(stem(word), label, nameWeight);
    for (const [key, { weight }] of guidance.get(label) ?? []) put(key, label, weight);
  }
  return cues;
}

function nameWords(label: string): Set<string> {
  const spaced = label.replaceAll('_', ' ').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  return new Set(splitWords(spaced).filter((word) => !isCommon(word)));
}

/** Length of each label's cue vector, so that many cues are no advantage. */
function cueNorms(labels: readonly string[], cues: Cues): Map<string, number> {
  const squares = new Map<string, number>();
  for (const owners of cues.values()) {
    for (const [label, weight] of owners) {
      squares.set(label, (squares.get(label) ?? 0) + worth(weight, owners.size, labels.length) ** 2);
    }
  }
  return new Map([...squares].map(([label, square]) => [label, Math.sqrt(square)]));
}

function closest(key: string, cues: Cues): string | null {
  let compared = 0;
  for (const cue of cues.keys()) {
    if ((compared += 1) > maxCuesCompared) return null;
    if (similar(key, cue)) return cue;
  }
  return null;
}
