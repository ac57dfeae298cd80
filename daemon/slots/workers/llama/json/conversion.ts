import type { MergeBudget } from './merge-schemas.ts';
import type { RuleBook } from './rule-book.ts';
import type { Schema } from './schema-shape.ts';

/** What the rules of one type need from the conversion. */
export interface Conversion {
  readonly book: RuleBook;
  readonly merges: MergeBudget;
  /** Reports a keyword that the grammar does not enforce, such as `multipleOf` or `format:uri`. */
  relax(keyword: string): void;
  /** Returns the rule for a schema at `at`. References resolve in `root`. */
  convert(schema: unknown, at: string, root: Schema): string;
}
