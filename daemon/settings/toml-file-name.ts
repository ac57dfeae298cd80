/**
 * Returns whether the name of a directory entry in `slots/` or `upstreams/` is that of a configuration file.
 * Hidden files and those of editors are not (docs/spec/contract.md#editor-files).
 */
export const isTomlFileName = (name: string): boolean => name.endsWith('.toml') && !name.startsWith('.');
