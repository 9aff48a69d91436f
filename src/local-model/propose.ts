/**
 * The `local` proposer: adds cues from examples to an instruction. Words of an example's text
 * become cues of its expected label; words that the feedback explains it with count twice.
 */
import type { Approach } from '../core/proposals/approach.js';
import { emphasis, readGuidance, type Cue, type Guidance } from './guidance.js';
import { mentionFinder } from './labels.js';
import { readLessons, type Example, type Lesson } from './lessons.js';
import { sameWords } from './statements.js';
import { trailLessons, readTrail } from './trails.js';
import { tellingStems } from './words.js';

const maxWeight = emphasis['above all'];
const explainedWeight = emphasis.often;
const maxStemsPerText = 60;
/** Limit of cues, shared among labels; at about 8 characters each it bounds the instruction. */
const maxCues = 1_500;
const maxNotesLength = 8_000;
/** Limit of each text of an example. */
const maxPartLength = 20_000;

const intro = 'How to tell the labels apart, by what a message says:';
const lookupIntro = 'What to look up, by how it is asked for:';
const aloneLine = 'Give what is found alone, and nothing else.';
const guidanceLine = /^- `([^`\n]+)`: (?:above all|mostly|often|also) /;

/** An instruction to rewrite, and what it led to. */
interface Rewrite {
  instruction: string;
  examples: readonly Example[];
  approach?: Approach;
}

/**
 * An improved instruction; unchanged if the examples teach nothing new. A restart or a compression
 * also leaves out what is said twice.
 */
export function propose({ instruction, examples, approach = 'revise' }: Rewrite): string {
  const base = approach === 'revise' ? instruction : withoutRepeats(instruction);
  const shown = examples.map(({ input, output, feedback }) => ({
    input: input.slice(0, maxPartLength),
    output: output.slice(0, maxPartLength),
    feedback: feedback.slice(0, maxPartLength),
  }));
  const looked = withLookups(base, shown);
  if (looked !== null) return looked;
  const lessons = readLessons(base, shown);
  return lessons.length > 0 ? withGuidance(base, lessons, intro) : withNotes(base, shown);
}

/** The text without the sentences and lines that it repeats. */
function withoutRepeats(text: string): string {
  const said = new Set<string>();
  const isNew = (sentence: string) => {
    const plain = sentence.trim().toLowerCase();
    return !/\p{L}/u.test(plain) || (!said.has(plain) && said.add(plain).size > 0);
  };
  const lines = text.split('\n').flatMap((line) => {
    const sentences = line.split(/(?<=[.!?])\s+/);
    const kept = sentences.filter(isNew);
    if (kept.length === sentences.length) return [line];
    return kept.length > 0 ? [kept.join(' ')] : [];
  });
  return lines.join('\n');
}

/** Adds attributes to look up and, after answers of whole statements, a request for values only. */
function withLookups(instruction: string, examples: readonly Example[]): string | null {
  const trails = examples.flatMap((example) => {
    const trail = readTrail(example);
    return trail ? [{ trail, output: example.output }] : [];
  });
  if (trails.length === 0) return null;
  const tooMuch = trails.some(({ trail, output }) => trail.passage.some(({ text }) => sameWords(text, output)));
  const base = tooMuch && !instruction.includes(aloneLine) ? withLine(instruction, aloneLine) : instruction;
  return withGuidance(
    base,
    trails.flatMap(({ trail }) => trailLessons(trail)),
    lookupIntro,
  );
}

/** Inserts a line before the lookup section of the instruction. */
function withLine(instruction: string, line: string): string {
  const [before, ...behind] = instruction.split(`\n\n${lookupIntro}`);
  return [`${before!.trimEnd()}\n\n${line}`, ...behind].join(`\n\n${lookupIntro}`);
}

function withGuidance(instruction: string, lessons: Lesson[], heading: string): string {
  const lines = instruction.split('\n');
  const own = lines.filter((line) => guidanceLine.test(line));
  const named = own.map((line) => guidanceLine.exec(line)![1]!);
  const guidance = readGuidance(own.join('\n'), mentionFinder(named));
  for (const lesson of lessons) learn(guidance, lesson);
  const perLabel = Math.max(3, Math.floor(maxCues / guidance.size));
  const learned = [...guidance].map(([label, cues]) => `- \`${label}\`: ${describe(cues, perLabel)}`);
  const kept = lines.filter((line) => line !== heading && !guidanceLine.test(line)).join('\n');
  return `${kept.trimEnd()}\n\n${heading}\n${learned.join('\n')}`;
}

function learn(guidance: Guidance, { text, expected, explanation }: Lesson): void {
  const cues = guidance.get(expected) ?? new Map<string, Cue>();
  const strengthen = (stem: string, word: string, weight: (before: number) => number) => {
    const known = cues.get(stem);
    cues.set(stem, { word: known?.word ?? word, weight: Math.min(maxWeight, weight(known?.weight ?? 0)) });
  };
  for (const [stem, word] of firstStems(explanation))
    strengthen(stem, word, (before) => Math.max(before, explainedWeight));
  for (const [stem, word] of firstStems(text)) strengthen(stem, word, (before) => before + 1);
  if (cues.size > 0) guidance.set(expected, cues);
}

function firstStems(text: string): [stem: string, word: string][] {
  return [...tellingStems(text)].slice(0, maxStemsPerText);
}

/** The strongest cues of a label; `readGuidance` reads them back with the same weights. */
function describe(cues: Map<string, Cue>, most: number): string {
  // Ties keep the later cues, so that a full line still learns.
  const strongest = new Set(
    [...cues.values()]
      .reverse()
      .sort((a, b) => b.weight - a.weight)
      .slice(0, most),
  );
  const tiers = Object.entries(emphasis).flatMap(([name, weight]) => {
    const words = [...cues.values()]
      .filter((cue) => cue.weight === weight && strongest.has(cue))
      .map(({ word }) => word);
    return words.length > 0 ? [`${name} ${words.join(', ')}`] : [];
  });
  return `${tiers.join('; ')}.`;
}

/** Without expected answers, adds the feedback itself as notes. */
function withNotes(instruction: string, examples: readonly Example[]): string {
  const notes = new Set(examples.map(({ feedback }) => feedback.split('\n', 1)[0]!.slice(0, 300).trim()));
  let text = instruction.trimEnd();
  for (const note of notes) {
    if (note !== '' && !text.includes(note) && text.length + note.length < instruction.length + maxNotesLength) {
      text += `\n- ${note}`;
    }
  }
  return text;
}
