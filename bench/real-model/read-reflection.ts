/**
 * Recognizes and parses a reflection of ours or of gepa's: the instruction in the first fence, then
 * examples with `## Inputs`, `## Generated Outputs` and `## Feedback`; a request for a shorter
 * instruction needs no examples.
 */
import type { Reflection, ReflectionExample } from '../../src/core/proposals/reflection.js';

type TextPart = 'input' | 'output' | 'feedback';

const asksForInstruction = /\b(?:new|better|improved|revised) (?:instruction|prompt)s?\b/i;
const asksForShorter = /\bshorter (?:new )?(?:instruction|prompt)\b/i;
const asksForRestart = /\bnew (?:instruction|prompt) .*\bfrom (?:the beginning|scratch)\b/i;
const exampleHeading = /^#{1,6}\s*example\b/i;
const partHeading = /^#{1,6}\s*(?:(inputs?)|((?:generated )?outputs?|answers?|responses?)|(feedback)|(\S.*))\s*$/i;
const maxLength = 1_000_000;
const maxPartLength = 20_000;

/** The parsed request, or null for another kind of message. */
export function readReflection(message: string): Reflection | null {
  if (!asksForInstruction.test(message)) return null;
  const lines = message.slice(0, maxLength).split(/\r?\n/);
  const opening = lines.findIndex((line) => /^`{3,}\S*\s*$/.test(line));
  if (opening < 0) return null;
  const fence = /^`+/.exec(lines[opening]!)![0];
  const closing = lines.findIndex((line, at) => at > opening && line.trimEnd() === fence);
  if (closing < 0) return null;
  const rest = lines.slice(closing + 1);
  const examples = readExamples(rest);
  const approach = readApproach(rest);
  if (examples.length === 0 && approach !== 'compress') return null;
  return { instruction: lines.slice(opening + 1, closing).join('\n'), examples, ...(approach && { approach }) };
}

/** Quoted lines are material, not a request. */
function readApproach(lines: readonly string[]): Reflection['approach'] {
  const own = lines.filter((line) => !line.startsWith('>'));
  if (own.some((line) => asksForShorter.test(line))) return 'compress';
  return own.some((line) => asksForRestart.test(line)) ? 'restart' : undefined;
}

function readExamples(lines: string[]): ReflectionExample[] {
  const examples: ReflectionExample[] = [];
  let part: TextPart | null = null;
  for (const line of lines) {
    if (exampleHeading.test(line)) {
      examples.push({ input: '', output: '', feedback: '', reward: 0 });
      part = null;
      continue;
    }
    const example = examples.at(-1);
    if (!example) continue;
    const heading = partHeading.exec(line);
    // Deeper headings belong to their part: the reference renders the fields of an input so.
    if (heading?.[1]) part = 'input';
    else if (heading?.[2]) part = 'output';
    else if (heading?.[3]) part = 'feedback';
    else if ((heading && /^#{1,2}\s/.test(line)) || asksForInstruction.test(line.replace(/^>.*/, ''))) part = null;
    else if (part) example[part] += `${line.replace(/^> ?/, '')}\n`;
  }
  return examples.map(({ input, output, feedback, reward }) => ({
    reward,
    input: input.slice(0, maxPartLength).trim(),
    output: output.slice(0, maxPartLength).trim(),
    feedback: feedback.slice(0, maxPartLength).trim(),
  }));
}
