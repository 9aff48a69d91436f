/** Examples of the document beside their schemas. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseStream, type StreamEvent } from './event-streams.js';
import { operationsOf, type Document, type Media } from './recorder.js';

const home = 'openapi.json';

/** The examples that do not match the schemas beside them, and what is wrong. */
export function invalidExamples(document: Document): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, home);
  const validators = new Map<string, ValidateFunction>();

  return operationsOf(document).flatMap(({ path, method, operation }) => {
    const { operationId, requestBody, responses } = operation;
    const at = ['paths', path, method.toLowerCase()];
    const bodies = [
      [[...at, 'requestBody'], requestBody] as const,
      ...Object.entries(responses).map(([status, response]) => [[...at, 'responses', status], response] as const),
    ];
    return bodies.flatMap(([place, body]) =>
      Object.entries(body?.content ?? {}).flatMap(([type, media]) =>
        problems([...place, 'content', type, 'schema'], type, media).map(
          (problem) => `${operationId} ${type}: ${problem}`,
        ),
      ),
    );
  });

  function problems(place: string[], type: string, media: Media): string[] {
    const values = valuesOf(type, media, document);
    const validate = values.length > 0 ? validatorOf(place, media.schema) : () => true;
    return values.flatMap((value) =>
      validate(value) ? [] : [`${ajv.errorsText((validate as ValidateFunction).errors)} in ${JSON.stringify(value)}`],
    );
  }

  /** One for all equal schemas: compiling takes long. */
  function validatorOf(place: string[], schema: object): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = validators.get(key);
    if (known) return known;
    const validate = ajv.compile({ $ref: `${home}#${place.map((part) => `/${escaped(part)}`).join('')}` });
    validators.set(key, validate);
    return validate;
  }
}

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** The examples of a body; of a stream its events, as their schema describes them. */
function valuesOf(type: string, { example, examples = {} }: Media, { components }: Document): unknown[] {
  const shared = Object.values(examples).map(({ $ref }) => components.examples[$ref.split('/').at(-1)!]!.value);
  if (example === undefined) return shared;
  if (type !== 'text/event-stream') return [...shared, example];
  const asText = ({ data, ...fields }: StreamEvent) => ({ ...fields, data: JSON.stringify(data) });
  return parseStream(example as string).map(asText);
}
