/** How sources name the programs that they start: quote and path of each, without its ending. */
export const ADDRESS = /new URL\((['"`])([^'"`]+)\.ts\1, import\.meta\.url\)/g;
