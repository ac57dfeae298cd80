// Plain JavaScript for Node 20: adds up what the suites of one run report, and prints it.

/** Failures that are printed in full. */
const MAX_PRINTED = 50;
/** Characters of one failure: enough for a difference and a stack. */
const MAX_TEXT = 6_000;

export class Totals {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #failures = [];

  /** Adds a suite without its own line. */
  add({ passed, failed, skipped, failures = [] }) {
    this.#passed += passed;
    this.#failed += failed;
    this.#skipped += skipped;
    this.#failures.push(...failures);
  }

  /** Adds a suite and prints its line. */
  addSuite(name, seconds, counts) {
    const { passed, failed, skipped } = counts;
    console.log(
      `${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${passed} passed, ${failed} failed, ${skipped} skipped`,
    );
    this.add(counts);
  }

  get failed() {
    return this.#failed;
  }

  /** The closing line that CI reads. */
  line() {
    return `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped`;
  }

  /** Prints every failure in full, then the closing line. Returns the exit code. */
  close() {
    for (const { name, text } of this.#failures.slice(0, MAX_PRINTED)) {
      console.log(`\nFAILED ${name}\n${text.slice(0, MAX_TEXT)}`);
    }
    const more = this.#failures.length - MAX_PRINTED;
    if (more > 0) console.log(`\n… and ${more} more failures`);
    console.log(`\n${this.line()}`);
    return this.#failed === 0 ? 0 : 1;
  }
}
