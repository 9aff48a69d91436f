import type { z } from 'zod';
import type { candidateDetailSchema } from '../contract/lineage.js';
import { attribute, type AttributedSegment } from '../../core/prompts/attribution.js';
import { candidateTexts } from '../store/candidates.js';
import type { Ancestor, readFeedback } from '../store/lineage.js';
import { exampleView } from './reflection-view.js';

type Views = z.output<typeof candidateDetailSchema>['segments'];
type Feedback = Awaited<ReturnType<typeof readFeedback>>;

const limits = {
  /** Limits of feedback: number and bytes per sentence, and bytes of a whole answer. */
  examples: 20,
  feedbackBytes: 1_024,
  bytesInAll: 2 * 1024 * 1024,
  /** Above this number of sentences, neighbours of the same origin are joined. */
  segments: 1_000,
};

/** A sentence of a component. */
export interface ComponentSegment extends AttributedSegment {
  component: string;
}

/** The origin of each sentence of a prompt. `line`: the ancestors, then the candidate. */
export function attributePrompt(line: readonly Ancestor[]): ComponentSegment[] {
  const texts = line.map(candidateTexts);
  const versions = new Map(line.map(({ id, leverVersion }) => [id, leverVersion]));
  const parents = line.map(({ parentIds }) => parentIds.flatMap((id) => versions.get(id) ?? []));
  const segments = Object.keys(texts.at(-1) ?? {}).flatMap((component) =>
    attribute(
      line.map(({ leverVersion }, index) => ({
        candidate: leverVersion,
        parents: parents[index]!,
        text: texts[index]![component] ?? '',
      })),
    ).map((segment) => ({ component, ...segment })),
  );
  return joinSegments(segments);
}

/** The rollouts whose feedback is shown with an ancestor's sentences. */
export function shownTo({ reflection }: Ancestor): number[] {
  return reflection?.ordinals.slice(0, limits.examples) ?? [];
}

/** Each sentence with the candidate that introduced it and the feedback behind it. */
export function segmentViews(
  segments: readonly ComponentSegment[],
  sources: ReadonlyMap<number, Ancestor>,
  feedback: Feedback,
): Views {
  const feedbackOf = (candidate: number) =>
    shownTo(sources.get(candidate)!).flatMap((ordinal) => feedback.get(ordinal) ?? []);
  const count = segments.reduce((total, { candidate }) => total + feedbackOf(candidate).length, 0);
  const bytes = Math.min(limits.feedbackBytes, Math.max(40, Math.floor(limits.bytesInAll / count)));
  return segments.map(({ component, text, candidate }) => ({
    component,
    text,
    introduced_by: sources.get(candidate)!.id,
    feedback: feedbackOf(candidate).map((example) => exampleView(example, bytes)),
  }));
}

function joinSegments(segments: ComponentSegment[]): ComponentSegment[] {
  if (segments.length <= limits.segments) return segments;
  const joined: ComponentSegment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    if (last?.candidate === segment.candidate && last.component === segment.component) last.text += segment.text;
    else joined.push({ ...segment });
  }
  return joined;
}
