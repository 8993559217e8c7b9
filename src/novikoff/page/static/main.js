import { startServed } from "./app.js";

startServed();
