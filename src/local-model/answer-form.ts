/** Answers in the JSON form that the prompt shows: an example, a JSON Schema, or `a JSON list`. */
import { indexOfName, spaced } from './statements.js';

const asksForJson = /\b(?:answer|reply|respond|return|give|output|write)\b[^.\n]{0,80}\bJSON\b/i;
const maxForm = 20_000;
const maxPieces = 100;
const maxDepth = 10;

type Form = Record<string, unknown>;

/** The answer in the requested form: whole in each text of an object, in pieces in a list. */
export function inForm(prompt: string, answer: string): string {
  const asked = asksForJson.exec(prompt);
  if (!asked) return answer;
  const shown = firstBraces(prompt.slice(asked.index, asked.index + maxForm));
  if (shown !== null) return JSON.stringify(readForm(shown, answer));
  return JSON.stringify(
    /\bJSON (?:list|array)\b/i.test(asked[0] + prompt.slice(asked.index, asked.index + 200))
      ? answerPieces(answer)
      : { answer },
  );
}

function readForm(shown: string, answer: string): unknown {
  let form: unknown;
  try {
    form = JSON.parse(shown);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // `{"name": …}` is not JSON, but its names can be read.
    const names = [...shown.matchAll(/"([^"\\]{1,100})"\s*:/g)].map((match) => match[1]!);
    return shown.startsWith('[') ? answerPieces(answer) : Object.fromEntries(names.map((name) => [name, answer]));
  }
  return isSchema(form) ? bySchema(form, answer, maxDepth) : byExample(form, answer, maxDepth);
}

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

function isSchema(form: unknown): form is Form {
  if (typeof form !== 'object' || form === null) return false;
  return (
    [(form as Form)['type']].flat().every((type) => types.includes(String(type))) ||
    Array.isArray((form as Form)['enum'])
  );
}

function byExample(example: unknown, answer: string, depth: number): unknown {
  if (typeof example === 'number') return numberIn(answer);
  if (typeof example === 'boolean') return saysYes(answer);
  if (typeof example !== 'object' || example === null || depth === 0) return answer;
  if (Array.isArray(example)) return answerPieces(answer).map((piece) => byExample(example[0] ?? '', piece, depth - 1));
  return Object.fromEntries(
    Object.entries(example).map(([name, field]) => [name, byExample(field, answer, depth - 1)]),
  );
}

function bySchema(schema: Form, answer: string, depth: number): unknown {
  const values = schema['enum'];
  if (Array.isArray(values)) {
    const where = spaced(answer);
    return values.find((value) => indexOfName(String(value), where) >= 0) ?? values[0];
  }
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'object': {
      if (depth === 0) return {};
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Form>);
      return Object.fromEntries(properties.map(([name, field]) => [name, bySchema(field, answer, depth - 1)]));
    }
    case 'array': {
      const items = (schema['items'] ?? { type: 'string' }) as Form;
      return depth === 0 ? [] : answerPieces(answer).map((piece) => bySchema(items, piece, depth - 1));
    }
    case 'number':
      return numberIn(answer);
    case 'integer':
      return Math.trunc(numberIn(answer));
    case 'boolean':
      return saysYes(answer);
    case 'null':
      return null;
    default:
      return answer;
  }
}

function answerPieces(answer: string): string[] {
  const pieces = answer.split(/[,;\n]|\band\b/).map((piece) => piece.trim());
  return pieces.filter((piece) => piece !== '').slice(0, maxPieces);
}

function numberIn(answer: string): number {
  return Number(answer.match(/-?\d{1,15}(?:\.\d{1,15})?/g)?.at(-1) ?? 0);
}

function saysYes(answer: string): boolean {
  return /^\W*(?:yes|true)\b/i.test(answer);
}

/** From the first brace or bracket to the closing one; null: none. */
function firstBraces(text: string): string | null {
  const from = text.search(/[{[]/);
  let open = 0;
  for (let at = from; from >= 0 && at < text.length; at += 1) {
    if ('{['.includes(text[at]!)) open += 1;
    if ('}]'.includes(text[at]!)) open -= 1;
    if (open === 0) return text.slice(from, at + 1);
  }
  return null;
}
