// Lays graphs out with elkjs. One ELK graph as JSON on each line of standard input, its answer on each line of output:
// the graph with coordinates, or {"error": "..."} where ELK gives up.
//
// node elk.mjs FOLDER      FOLDER is where `npm install` put node_modules/elkjs
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "package.json"));
const ELK = require("elkjs");
const elk = new ELK();

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await elk.layout(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
