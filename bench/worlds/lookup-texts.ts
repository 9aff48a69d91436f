/**
 * Texts of worlds of lookups: inputs, and the parts of a prompt that change the model's behaviour.
 */

/** Facts, and the question. */
export interface Lookup {
  /** Person to town. */
  lives: ReadonlyMap<string, string>;
  /** Town to the things kept there. */
  keeps: ReadonlyMap<string, string>;
  query: { person: string } | { town: string };
}

/** In a prompt: answer with the town of the question, a single lookup. */
export const townWanted = 'Name the town that the question is about.';
/** In a prompt: think step by step. */
export const steps = 'Think step by step.';

/** An input, in one line. */
export function writeLookup({ lives, keeps, query }: Lookup): string {
  const lived = [...lives].map(([person, town]) => `${person} lives in ${town}.`);
  const kept = [...keeps].map(([town, thing]) => `In ${town} they keep ${thing}.`);
  const where = 'town' in query ? `in ${query.town}` : `where ${query.person} lives`;
  return `${[...lived, ...kept].join(' ')} Question: what do they keep ${where}?`;
}

/** The first input in a text, and the surrounding text; null: none. */
export function readLookup(text: string): { lookup: Lookup; text: string; rest: string } | null {
  const inputs =
    /(?:\w+ lives in \w+\. )+(?:In \w+ they keep \w+\. )+Question: what do they keep (?:where (\w+) lives|in (\w+))\?/g;
  const [found] = text.matchAll(inputs);
  if (!found) return null;
  const [whole, person, town] = found;
  return {
    text: whole,
    rest: text.replace(inputs, ''),
    lookup: {
      lives: new Map([...whole.matchAll(/(\w+) lives in (\w+)\./g)].map(([, person, index]) => [person!, index!])),
      keeps: new Map([...whole.matchAll(/In (\w+) they keep (\w+)\./g)].map(([, index, thing]) => [index!, thing!])),
      query: person === undefined ? { town: town! } : { person },
    },
  };
}
