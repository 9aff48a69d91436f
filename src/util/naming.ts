/** Names of the wire, as in `rng_seed`, and of the code, as in `rngSeed`. */

type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name;

/** An object of the wire with the names of the code. */
export type CamelCased<Fields> = { [Name in keyof Fields as Camel<Name>]: Fields[Name] };

export function camelCased<Fields extends object>(fields: Fields): CamelCased<Fields> {
  const renamed = Object.entries(fields).map(([name, value]): [string, unknown] => [camel(name), value]);
  return Object.fromEntries(renamed) as CamelCased<Fields>;
}

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function snakeCased(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
