
{name:"QA",upstream:{type:"http",host:"a.example",port:8080}}