/** The walks of `docs/how-it-works.md`: each file is called by the one that it stands below. */
import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { read, root, section } from './pages.js';

interface Step {
  depth: number;
  file: string;
  /** The name by which the file above calls this one; undefined: it imports it. */
  by: string | undefined;
}

interface Walk {
  title: string;
  files: number;
  steps: Step[];
}

/** The walks in a text: headings with a number of files, each with a nested list. */
function walksOf(text: string): Walk[] {
  return text
    .split(/^### /m)
    .slice(1)
    .map((walk) => {
      const [, title, files] = /^(.+): (\d+) files$/m.exec(walk)!;
      const items = walk.matchAll(/^( *)- `([^`]+)`(?: \(by\s+`([^`]+)`\))?:/gm);
      const steps = [...items].map(([, indent, file, by]) => ({ depth: indent!.length / 2, file: file!, by }));
      return { title: title!, files: Number(files), steps };
    });
}

/** The file that an import names, from the root. */
function resolved(from: string, specifier: string): string {
  const path = join(dirname(from), specifier).replace(/\.js$/, '');
  return [`${path}.ts`, `${path}.tsx`].find((file) => existsSync(join(root, file))) ?? path;
}

const parsed = new Map<string, Set<string>>();

/** The files whose values a file imports or exports; each file is parsed once. */
function importsOf(file: string): Set<string> {
  const imports = parsed.get(file) ?? readImports(file);
  parsed.set(file, imports);
  return imports;
}

function readImports(file: string): Set<string> {
  const { statements } = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  const imports = statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || isOfTypes(statement)) return [];
    return moduleSpecifier.text.startsWith('.') ? [resolved(file, moduleSpecifier.text)] : [];
  });
  return new Set(imports);
}

function isOfTypes(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  const { importClause: clause } = statement;
  if (!clause) return false;
  const named = clause.namedBindings && ts.isNamedImports(clause.namedBindings) ? clause.namedBindings.elements : [];
  const areTypes = named.length > 0 && named.every(({ isTypeOnly }) => isTypeOnly);
  return clause.phaseModifier === ts.SyntaxKind.TypeKeyword || (areTypes && !clause.name);
}

const names = (file: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(read(file));

/** The steps whose file is missing, or is not called by the step above. */
function faultsOf({ title, files, steps }: Walk): string[] {
  const above: Step[] = [];
  const faults = steps.flatMap((step) => {
    above.length = Math.min(above.length, step.depth);
    const caller = above.at(-1);
    above.push(step);
    if (!existsSync(join(root, step.file))) return [`${step.file} does not exist`];
    if (above.length !== step.depth + 1) return [`${step.file} stands too deep`];
    if (!caller || !existsSync(join(root, caller.file))) return [];
    const { by } = step;
    const isCalled = by ? names(caller.file, by) && names(step.file, by) : importsOf(caller.file).has(step.file);
    return isCalled ? [] : [`${caller.file} does not call ${step.file}${by ? ` by ${by}` : ''}`];
  });
  const count = new Set(steps.map(({ file }) => file)).size;
  if (count !== files || count !== steps.length) faults.push(`has ${count} files in ${steps.length} lines`);
  return faults.map((fault) => `${title}: ${fault}`);
}

test('each walk names files of which each calls the next', () => {
  const walks = walksOf(section(read('docs/how-it-works.md'), '## Walks'));
  expect(walks).toHaveLength(7);
  expect(walks.flatMap(faultsOf)).toEqual([]);
});

test.each([
  ['a missing file', '- `src/none.ts`: x', 1],
  ['a file that the one above does not import', '- `src/platform/http/app.ts`: x\n  - `src/service/config.ts`: x', 2],
  [
    'a file that the one above imports as a type only',
    '- `src/platform/http/app.ts`: x\n  - `src/platform/http/deps.ts`: x',
    2,
  ],
  [
    'a name that only one of the two has',
    '- `src/platform/http/app.ts`: x\n  - `src/service/config.ts` (by `buildApp`): x',
    2,
  ],
  ['a wrong number of files', '- `src/platform/http/app.ts`: x', 2],
])('finds %s', (_, list, files) => {
  expect(walksOf(`### A walk: ${files} files\n\n${list}\n`).flatMap(faultsOf)).toHaveLength(1);
});
