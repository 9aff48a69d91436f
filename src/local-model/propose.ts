/**
 * The `local` proposer: adds cues from examples to an instruction. Words of an example's text
 * become cues of its expected label; words that the feedback explains it with count twice.
 */
import { emphasis, readGuidance, type Cue, type Guidance } from './guidance.js';
import { mentionFinder } from './labels.js';
import { readLessons, type Lesson } from './lessons.js';
import type { ShownReflection } from './reflection.js';
import { sameWords } from './statements.js';
import { trailLessons, readTrail } from './trails.js';
import { tellingStems } from './words.js';

const maxWeight = emphasis['above all'];
const explainedWeight = emphasis.often;
const maxStemsPerText = 60;
/** Limit of cues, shared among labels; at about 8 characters each it bounds the instruction. */
const maxCues = 1_500;
const maxNotesLength = 8_000;
const maxShapes = 12;

const intro = 'How to tell the labels apart, by what a message says:';
const lookupIntro = 'What to look up, by how it is asked for:';
const aloneLine = 'Give what is found alone, and nothing else.';
const guidanceLine = /^- `([^`\n]+)`: (?:above all|mostly|often|also) /;
const shapesLine = /^- The answer is a part of the text that looks like (.*)\.$/;

/**
 * An improved instruction; unchanged if the examples teach nothing new. A restart or a compression
 * also leaves out what is said twice.
 */
export function propose(reflection: ShownReflection): string {
  const { approach, instruction } = reflection;
  return revise(approach === undefined ? reflection : { ...reflection, instruction: withoutRepeats(instruction) });
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

function revise(reflection: ShownReflection): string {
  const looked = withLookups(reflection);
  if (looked !== null) return looked;
  const { labels, extracts } = readLessons(reflection);
  if (labels.length > 0) return withGuidance(reflection.instruction, labels, intro);
  return extracts.length > 0 ? withShapes(reflection.instruction, extracts) : withNotes(reflection);
}

/** Adds attributes to look up and, after answers of whole statements, a request for values only. */
function withLookups({ instruction, examples }: ShownReflection): string | null {
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
  const { own, others } = splitLines(instruction, guidanceLine);
  const named = own.map((line) => guidanceLine.exec(line)![1]!);
  const guidance = readGuidance(own.join('\n'), mentionFinder(named));
  for (const lesson of lessons) learn(guidance, lesson);
  const perLabel = Math.max(3, Math.floor(maxCues / guidance.size));
  const lines = [...guidance].map(([label, cues]) => `- \`${label}\`: ${describe(cues, perLabel)}`);
  const kept = others.filter((line) => line !== heading).join('\n');
  return `${kept.trimEnd()}\n\n${heading}\n${lines.join('\n')}`;
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

function withShapes(instruction: string, lessons: Lesson[]): string {
  const { own, others } = splitLines(instruction, shapesLine);
  const known = own.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
  const examples = [...new Set([...known, ...lessons.map(({ expected }) => expected)])].slice(-maxShapes);
  const listed = examples.map((example) => `\`${example}\``).join(', ');
  return `${others.join('\n').trimEnd()}\n- The answer is a part of the text that looks like ${listed}.`;
}

/** Without expected answers, adds the feedback itself as notes. */
function withNotes({ instruction, examples }: ShownReflection): string {
  const notes = new Set(examples.map(({ feedback }) => feedback.split('\n', 1)[0]!.slice(0, 300).trim()));
  let text = instruction.trimEnd();
  for (const note of notes) {
    if (note !== '' && !text.includes(note) && text.length + note.length < instruction.length + maxNotesLength) {
      text += `\n- ${note}`;
    }
  }
  return text;
}

function splitLines(instruction: string, ownLine: RegExp): { own: string[]; others: string[] } {
  const lines = instruction.split('\n');
  return { own: lines.filter((line) => ownLine.test(line)), others: lines.filter((line) => !ownLine.test(line)) };
}
