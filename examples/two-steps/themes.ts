/** Vocabulary of two-step questions: names, attributes, and phrases that ask for them. */
import type { Draws } from './draws.js';

/** An attribute of a thing or a group, with several phrases that ask for it without its name. */
export interface Attribute {
  name: string;
  asked: readonly string[];
}

/** An attribute with its possible values. */
export interface ValuedAttribute extends Attribute {
  values: readonly string[];
}

/**
 * Things belong to groups (`links`); both have attributes. A question about a thing's group joins
 * both phrases: `Who is in charge of` + `the team that maintains` + `Harbor?`.
 */
export interface Theme {
  things: readonly string[];
  groups: readonly string[];
  /** At least two: attributes whose value is a group. */
  links: readonly Attribute[];
  ofThings: readonly ValuedAttribute[];
  ofGroups: readonly ValuedAttribute[];
  /** A statement of a passage. */
  sentence(attribute: string, subject: string, value: string): string;
}

const words = (text: string) => text.split(/\s+/);

/** The sample's theme: a company's services and their teams. */
export const company: Theme = {
  things: words(
    'Harbor Lantern Quartz Meadow Beacon Cobalt Juniper Marble Pepper Saffron Timber Velvet Walnut Zephyr Cinder Ember',
  ),
  groups: words(
    'Falcon Otter Badger Heron Lynx Marten Osprey Puffin Raven Stork Tapir Viper Weasel Bison Condor Dingo',
  ),
  links: [
    {
      name: 'owner',
      asked: ['the team that maintains', 'the team responsible for', 'the people who develop', 'the people who built'],
    },
    {
      name: 'backup',
      asked: [
        'the team that stands by for',
        'the team that covers for',
        'the people who substitute for',
        'the people who jump in for',
      ],
    },
  ],
  ofThings: [
    {
      name: 'dialect',
      values: words('Python Kotlin Haskell Erlang Fortran Scala Rust Julia'),
      asked: ['Which language do programmers use for', 'What is the source code of', 'Which compiler builds'],
    },
  ],
  ofGroups: [
    {
      name: 'lead',
      values: words('Mara Idris Tomas Yuki Priya Oskar Lena Hugo Amina Pavel Noor Silas'),
      asked: ['Who is in charge of', 'Who is the head of', 'Who is the boss of', 'Which person directs'],
    },
    {
      name: 'site',
      values: words('Oslo Lisbon Kyoto Quito Dublin Tallinn Nairobi Porto Bergen Cusco Split Ghent'),
      asked: ['In which city sits', 'Which town houses', 'Where is the office of', 'To which place travels a guest of'],
    },
    {
      name: 'channel',
      values: words('Atrium Balcony Cellar Garage Kitchen Library Attic Pantry Veranda Chapel Porch Stable'),
      asked: [
        'Where does one chat with',
        'Where does one write to',
        'Which room reaches',
        'Where are messages posted for',
      ],
    },
  ],
  sentence: (attribute, subject, value) => `The ${attribute} of ${subject} is ${value}.`,
};

const onsets = words('b br d dr f fl g gr k kl l m n p pl r s st t tr v z');
const vowels = words('a e i o u ai ou');
const codas = words('b d g k l m n p r t x');

/** A theme of unique invented words, with the reverse word order in passages. */
export function inventedTheme(draws: Draws): Theme {
  const taken = new Set<string>();
  const word = (): string => {
    for (;;) {
      const syllable = () => draws.pick(onsets) + draws.pick(vowels);
      const made = syllable() + syllable() + syllable() + draws.pick(codas);
      // Unique first syllables, so that no word is a typing error of another.
      if (taken.has(made.slice(0, 4))) continue;
      taken.add(made.slice(0, 4));
      return made;
    }
  };
  const many = <Made>(count: number, make: () => Made): Made[] => Array.from({ length: count }, make);
  const name = () => word().replace(/^./, (first) => first.toUpperCase());
  const attribute = (ways: number, ask: () => string) => ({ name: word(), asked: many(ways, ask) });
  const valued = (ask: () => string) => ({ ...attribute(4, ask), values: many(12, name) });
  return {
    things: many(16, name),
    groups: many(16, name),
    links: many(2, () => attribute(4, () => `the ${word()} that ${word()}`)),
    ofThings: many(1, () => valued(() => `Which ${word()} ${word()}`)),
    ofGroups: many(3, () => valued(() => `Which ${word()} ${word()}`)),
    sentence: (what, subject, value) => `${subject}'s ${what} is ${value}.`,
  };
}
