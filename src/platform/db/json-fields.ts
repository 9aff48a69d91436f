/** SQL expressions for fields of a jsonb column, checked against the type of the stored value. */

/** Field names of an object type, or of any member of a union; never of an array. */
type FieldOf<T> = T extends readonly unknown[] ? never : T extends object ? Extract<keyof T, string> : never;

type ValueOf<T, Field extends string> = T extends object ? (Field extends keyof T ? T[Field] : never) : never;

/** A path of one to three field names. */
type FieldPath<T> = {
  [Field in FieldOf<T>]: [Field] | [Field, ...ShortPath<ValueOf<T, Field>>];
}[FieldOf<T>];
type ShortPath<T> = {
  [Field in FieldOf<T>]: [Field] | [Field, FieldOf<ValueOf<T, Field>>];
}[FieldOf<T>];

interface JsonFields<T> {
  /** A field as jsonb. */
  json(...path: FieldPath<T>): string;
  /** A field as text; null for a JSON null. */
  text(...path: FieldPath<T>): string;
  /** The value without these fields. */
  without(...paths: FieldPath<T>[]): string;
  /** `value`, an expression of that form, with the `type` only of the objects at these paths. */
  typesOnly(value: string, ...paths: FieldPath<T>[]): string;
}

/** The fields of a column that holds a `T`. */
export function jsonFields<T>(column: string): JsonFields<T> {
  const quoted = (path: readonly string[]) => path.map((field) => `'${field}'`);
  return {
    json: (...path) => `(${[column, ...quoted(path)].join('->')})`,
    text(...path) {
      const [last, ...rest] = quoted(path).reverse();
      return `(${[column, ...rest.reverse()].join('->')}->>${last})`;
    },
    without(...paths) {
      const top = paths.filter(({ length }) => length === 1).flatMap(quoted);
      const nested = paths.filter(({ length }) => length > 1).map((path) => ` #- '{${path.join()}}'`);
      return `((${column} - array[${top.join()}]::text[])${nested.join('')})`;
    },
    typesOnly(value, ...paths) {
      const setType = (rest: string, path: string) =>
        `jsonb_set(${rest}, '{${path}}', jsonb_build_object('type', ${column} #> '{${path},type}'), false)`;
      return paths.map((path) => path.join()).reduce(setType, value);
    },
  };
}

type SqlType = 'jsonb' | 'text' | 'float8';

/** Fields of a column that holds a `T` as columns of `alias`, for a `from` clause: one decoding. */
export function jsonRecord<T>() {
  return <Field extends FieldOf<T>>(column: string, alias: string, types: Record<Field, SqlType>) => {
    const entries = Object.entries(types) as [Field, SqlType][];
    return {
      from: `jsonb_to_record(${column}) as ${alias}(${entries.map(([field, type]) => `"${field}" ${type}`).join(', ')})`,
      columns: Object.fromEntries(entries.map(([field]) => [field, `${alias}."${field}"`])) as Record<Field, string>,
    };
  };
}
